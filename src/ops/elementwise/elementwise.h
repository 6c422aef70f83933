// What the calls of elementwise.def take.
#pragma once

#include "ops/elementwise/activation.h"
