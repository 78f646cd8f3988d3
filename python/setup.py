"""Makes the wheel: the module, and libtraceloom.so.0, which CMake builds of the sources around this folder.

TRACELOOM_WHEEL_LIBRARY names a libtraceloom.so.0 to take instead of building one. The wheel has machine code, but none for
Python: its tag is py3-none-PLATFORM, the platform that of this machine. It is not a manylinux one, for the library needs
those of the system: zlib, zstd, bzip2, elfutils, SQLite."""
import os
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70.1
    from wheel.bdist_wheel import bdist_wheel

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
SONAME = "libtraceloom.so.0"


def built(folder):
    """The library, built in a folder."""
    if not os.path.exists(os.path.join(SOURCE, "src", "formats.def")):
        raise SystemExit("the library's sources are not beside this folder: set TRACELOOM_WHEEL_LIBRARY to a " + SONAME)
    for tool in ("cmake", "ninja"):
        if not shutil.which(tool):
            raise SystemExit("%s is missing, which builds %s: run `make deps`, or set TRACELOOM_WHEEL_LIBRARY to a built one" % (tool, SONAME))
    subprocess.run(["cmake", "-S", SOURCE, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DTRACELOOM_SHARED=ON", "-DTRACELOOM_TESTS=OFF",
                    "-DTRACELOOM_EXAMPLES=OFF", "-DTRACELOOM_RT=OFF", "-DTRACELOOM_QEMU=OFF"], check=True)
    subprocess.run(["cmake", "--build", folder, "--target", "libtraceloom-shared"], check=True)
    return os.path.join(folder, SONAME)


class Build(build_py):
    """The module with the library beside it, without symbols for debuggers."""

    def run(self):
        super().run()
        library = os.environ.get("TRACELOOM_WHEEL_LIBRARY") or built(os.path.abspath(os.path.join("build", "cmake")))
        target = os.path.join(self.build_lib, "traceloom", SONAME)
        shutil.copyfile(library, target)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-unneeded", target], check=True)


class Wheel(bdist_wheel):
    """A wheel for any Python 3 on this kind of machine."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class Compiled(Distribution):
    """What has machine code."""

    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": Build, "bdist_wheel": Wheel}, distclass=Compiled)
