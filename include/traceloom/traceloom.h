/* All of Traceloom's public interface, but for the recorder's (traceloom/rt.h).
 *
 * Each header says at its top which threads may use it, and at each function who owns what and how it fails; error.h
 * has the rules that hold for all. docs/abi.md says what may change between versions. */
#ifndef TRACELOOM_H
#define TRACELOOM_H

#include <traceloom/arrow.h>
#include <traceloom/compare.h>
#include <traceloom/error.h>
#include <traceloom/events.h>
#include <traceloom/format.h>
#include <traceloom/model.h>
#include <traceloom/profile.h>
#include <traceloom/query.h>
#include <traceloom/relation.h>
#include <traceloom/sink.h>
#include <traceloom/source.h>
#include <traceloom/split.h>
#include <traceloom/trace.h>

#endif
