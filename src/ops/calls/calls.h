// What the calls of calls.def take.
#pragma once

#include "ops/calls/custom_layer.h"
