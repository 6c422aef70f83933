// Of operators.def: rows of files that nobody asked for are nothing. Included once for each table.
#ifndef LOOM_SHAPE_elementwise
#define LOOM_SHAPE_elementwise(...)
#endif
#ifndef LOOM_SHAPE_layout
#define LOOM_SHAPE_layout(...)
#endif
#ifndef LOOM_SHAPE_makers
#define LOOM_SHAPE_makers(...)
#endif
#ifndef LOOM_SHAPE_window
#define LOOM_SHAPE_window(...)
#endif
#ifndef LOOM_SHAPE_layers
#define LOOM_SHAPE_layers(...)
#endif
#ifndef LOOM_SHAPE_signal
#define LOOM_SHAPE_signal(...)
#endif
#ifndef LOOM_MAP_attention
#define LOOM_MAP_attention(...)
#endif
#ifndef LOOM_MAP_choice
#define LOOM_MAP_choice(...)
#endif
#ifndef LOOM_MAP_circular
#define LOOM_MAP_circular(...)
#endif
#ifndef LOOM_MAP_einsum
#define LOOM_MAP_einsum(...)
#endif
#ifndef LOOM_MAP_elementwise
#define LOOM_MAP_elementwise(...)
#endif
#ifndef LOOM_MAP_integers
#define LOOM_MAP_integers(...)
#endif
#ifndef LOOM_MAP_layers
#define LOOM_MAP_layers(...)
#endif
#ifndef LOOM_MAP_linear_attention
#define LOOM_MAP_linear_attention(...)
#endif
#ifndef LOOM_MAP_losses
#define LOOM_MAP_losses(...)
#endif
#ifndef LOOM_MAP_places
#define LOOM_MAP_places(...)
#endif
#ifndef LOOM_MAP_recurrent
#define LOOM_MAP_recurrent(...)
#endif
#ifndef LOOM_MAP_resample
#define LOOM_MAP_resample(...)
#endif
#ifndef LOOM_MAP_signal
#define LOOM_MAP_signal(...)
#endif
#ifndef LOOM_MAP_types
#define LOOM_MAP_types(...)
#endif
#ifndef LOOM_MAP_windows
#define LOOM_MAP_windows(...)
#endif
#ifndef LOOM_MAP_none
#define LOOM_MAP_none(...)
#endif
