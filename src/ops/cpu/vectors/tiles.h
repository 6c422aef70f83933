// The eight tiles of AMX, each 16 rows of 64 bytes at most. Numbers of tiles are part of an
// instruction, so these are macros:
//   LOOM_TILE_ZERO(t)  LOOM_TILE_LOAD(t, from, stride)  LOOM_TILE_STORE(t, to, stride)
//   LOOM_TILE_DOT(c, a, b)  c[m][n] += sum over k of s8 a[m][k] * u8 b[k/4][4n + k%4], modulo 2^32
// Where the compiler has no AMX (an editor, a test on another machine), plain loops do the same.
#pragma once

#include "ops/cpu/prelude.h"

namespace loom::cpu::LOOM_ISA {

static constexpr i64 kRowsOfTile = 16, kTileBytes = 64;

// What LDTILECFG reads (Intel SDM, "palette 1"): bytes of a row and rows of each tile.
struct TileShapes {
  unsigned char palette = 1, start_row = 0, reserved[14] = {};
  unsigned short row_bytes[16] = {};
  unsigned char rows[16] = {};
};
static_assert(sizeof(TileShapes) == 64);

#if defined(__AMX_TILE__) && defined(__AMX_INT8__)
static inline void set_tiles(const TileShapes& shapes) {
  asm volatile("ldtilecfg %0" : : "m"(shapes) : "memory");
}
// A thread that keeps tiles in use makes each switch to another one dearer.
static inline void release_tiles() { asm volatile("tilerelease" : : : "memory"); }
#define LOOM_TILE_ZERO(t) asm volatile("tilezero %%tmm" #t : : : "memory")
#define LOOM_TILE_LOAD(t, from, stride) \
  asm volatile("tileloadd (%0,%1,1), %%tmm" #t : : "r"(from), "r"(i64{stride}) : "memory")
#define LOOM_TILE_STORE(t, to, stride) \
  asm volatile("tilestored %%tmm" #t ", (%0,%1,1)" : : "r"(to), "r"(i64{stride}) : "memory")
#define LOOM_TILE_DOT(c, a, b) \
  asm volatile("tdpbsud %%tmm" #b ", %%tmm" #a ", %%tmm" #c : : : "memory")
#else
struct PlainTiles {
  TileShapes shapes;
  unsigned char tile[8][kRowsOfTile][kTileBytes];
  void zero(int t) { __builtin_memset(tile[t], 0, sizeof tile[t]); }
  void load(int t, const void* from, i64 stride) {
    zero(t);
    for (i64 r = 0; r < shapes.rows[t]; ++r)
      __builtin_memcpy(tile[t][r], static_cast<const char*>(from) + r * stride,
                       shapes.row_bytes[t]);
  }
  void store(int t, void* to, i64 stride) const {
    for (i64 r = 0; r < shapes.rows[t]; ++r)
      __builtin_memcpy(static_cast<char*>(to) + r * stride, tile[t][r], shapes.row_bytes[t]);
  }
  void dot(int c, int a, int b) {
    for (i64 m = 0; m < shapes.rows[c]; ++m)
      for (i64 n = 0; n < shapes.row_bytes[c] / 4; ++n) {
        unsigned sum;
        __builtin_memcpy(&sum, &tile[c][m][4 * n], 4);
        for (i64 k = 0; k < shapes.rows[b]; ++k)
          for (i64 i = 0; i < 4; ++i)
            sum += static_cast<unsigned>(static_cast<signed char>(tile[a][m][4 * k + i]) *
                                         tile[b][k][4 * n + i]);
        __builtin_memcpy(&tile[c][m][4 * n], &sum, 4);
      }
  }
};
static thread_local PlainTiles plain_tiles;
static inline void set_tiles(const TileShapes& shapes) { plain_tiles.shapes = shapes; }
static inline void release_tiles() {}
#define LOOM_TILE_ZERO(t) plain_tiles.zero(t)
#define LOOM_TILE_LOAD(t, from, stride) plain_tiles.load(t, from, stride)
#define LOOM_TILE_STORE(t, to, stride) plain_tiles.store(t, to, stride)
#define LOOM_TILE_DOT(c, a, b) plain_tiles.dot(c, a, b)
#endif

// The tiles of this thread for products of rows: sums in 0 to 3, up to 16 rows with 64 k or fewer
// in 4 and 5, and the other side, 16 columns of the same k, in 6 and 7.
class RowTiles {
 public:
  RowTiles() = default;
  RowTiles(const RowTiles&) = delete;
  ~RowTiles() { release_tiles(); }
  void shape(i64 rows, i64 k = kTileBytes) {
    if (rows == rows_ && k == k_) return;
    rows_ = rows;
    k_ = k;
    TileShapes s;
    for (int t = 0; t < 8; ++t) {
      s.row_bytes[t] = static_cast<unsigned short>(t == 4 || t == 5 ? k : kTileBytes);
      s.rows[t] = static_cast<unsigned char>(t < 6 ? rows : k / 4);
    }
    set_tiles(s);
  }

 private:
  i64 rows_ = 0, k_ = 0;
};

}  // namespace loom::cpu::LOOM_ISA
