/* All of Traceloom's public interface, but for the recorder's (traceloom/rt.h).
 *
 * Every header says at its top which thread may do what, and at every function who owns what and how it fails; error.h
 * has the rules that hold for all of them. What may change from one version to the next is in docs/abi.md. */
#ifndef TRACELOOM_H
#define TRACELOOM_H

#include <traceloom/error.h>
#include <traceloom/events.h>
#include <traceloom/format.h>
#include <traceloom/model.h>
#include <traceloom/profile.h>
#include <traceloom/relation.h>
#include <traceloom/sink.h>
#include <traceloom/source.h>
#include <traceloom/split.h>
#include <traceloom/trace.h>

#endif
