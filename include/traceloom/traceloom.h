/* All of Traceloom's public interface. */
#ifndef TRACELOOM_H
#define TRACELOOM_H

#include <traceloom/error.h>
#include <traceloom/events.h>
#include <traceloom/format.h>
#include <traceloom/model.h>
#include <traceloom/profile.h>
#include <traceloom/sink.h>
#include <traceloom/source.h>
#include <traceloom/split.h>
#include <traceloom/trace.h>

#endif
