"""Every case of every generator of traces, saved: for tests that look at all formats."""
import os

import ctf_gen
import recording_gen
import tracelog_gen
import xray_gen
import xtrace_gen

XRAY = {"basic": "xray-basic", "fdr": "xray-fdr", "profile": "xray-profile"}


def write(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(data)
    return path


def traces(folder):
    """(format, name of the case, path) of each; of xtrace the path is a folder, with files of any number."""
    for name in xray_gen.cases():
        yield XRAY[xray_gen.cases()[name][0].split()[0]], name, write(folder, name + ".xray", xray_gen.make(name)[0])
    for name in recording_gen.cases():
        yield "xray-fdr", name, write(folder, name + ".xray", recording_gen.make(name)[0])
    for name in ctf_gen.cases():
        ctf_gen.save(folder, name, ctf_gen.make(name)[0], None)
        yield "ctf", name, os.path.join(folder, name)
    for name in tracelog_gen.cases():
        yield "tracelog", name, write(folder, name + ".log", tracelog_gen.make(name)[0])
    for name in xtrace_gen.cases():
        path = os.path.join(folder, "xtrace-" + name)
        xtrace_gen.save(path, name)
        yield "xtrace", name, path
