/* What a program that to_c.py writes needs: values, SHA-256, JSON, and the checks. C99 that is C++
 * as well. A check that fails prints what it saw, and the case returns. */
#include <loom/loom.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A result or a variable: a number, a handle, or bytes (text, JSON, arrays, contents). Bytes are
 * freed at the end of the case. */
typedef struct value {
  double number;
  uint64_t handle;
  unsigned char* data;
  size_t size;
} value;

static const char* case_name;
static const char* scratch; /* a folder for files */
static loom_error error;
static loom_handle made[256];
static int made_count;
static void* allocated[1024];
static int allocated_count;

static inline int fail(int step, const char* call, const char* what) {
  printf("%s: step %d, %s: %s\n", case_name, step, call, what);
  return 0;
}

static inline void* keep_memory(size_t size) {
  void* p = calloc(size + 1, 1);
  if (!p || allocated_count == 1024) abort();
  return allocated[allocated_count++] = p;
}

static inline void keep_handle(loom_handle h) {
  if (made_count == 256) abort();
  made[made_count++] = h;
}

static inline void forget_handle(loom_handle h) {
  int i, kept = 0;
  for (i = 0; i < made_count; ++i)
    if (made[i] != h) made[kept++] = made[i];
  made_count = kept;
}

static inline value bytes_value(const void* data, size_t size) {
  value v = {0, 0, NULL, 0};
  v.data = (unsigned char*)keep_memory(size);
  if (size) memcpy(v.data, data, size);
  v.size = size;
  return v;
}

/* The content of a bytes object. */
static inline value content(loom_bytes bytes) {
  void* data = NULL;
  uint64_t size = 0;
  if (loom_bytes_data(bytes, &data, &size, NULL) != LOOM_OK) abort();
  return bytes_value(data, (size_t)size);
}

/* The same, and the object is given back. */
static inline value taken(loom_bytes bytes) {
  value v = content(bytes);
  loom_release(bytes, NULL);
  return v;
}

static inline value number_value(double number) {
  value v = {0, 0, NULL, 0};
  v.number = number;
  return v;
}

static inline value handle_value(uint64_t handle) {
  value v = {0, 0, NULL, 0};
  v.handle = handle;
  v.number = (double)handle;
  return v;
}

/* A path in a folder that is the case's own: paths of different cases differ. */
static inline value path_value(const char* name, int number) {
  char path[1200];
  snprintf(path, sizeof path, "%s/%d.%s", scratch, number, name);
  return bytes_value(path, strlen(path));
}

static inline int write_bytes(loom_bytes bytes, size_t at, const void* data, size_t size) {
  void* to = NULL;
  uint64_t room = 0;
  if (loom_bytes_data(bytes, &to, &room, NULL) != LOOM_OK || at + size > room) return 0;
  if (size) memcpy((char*)to + at, data, size);
  return 1;
}

/* ---- SHA-256 (FIPS 180-4) */

static inline uint32_t rotated(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

static inline void sha256_block(uint32_t* h, const unsigned char* p) {
  static const uint32_t k[64] = {
      0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
      0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
      0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
      0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
      0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
      0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
      0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
      0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
      0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
      0xc67178f2};
  uint32_t w[64], s[8];
  int i;
  for (i = 0; i < 16; ++i)
    w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 |
           p[4 * i + 3];
  for (; i < 64; ++i)
    w[i] = w[i - 16] + (rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ w[i - 15] >> 3) +
           w[i - 7] + (rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ w[i - 2] >> 10);
  memcpy(s, h, sizeof s);
  for (i = 0; i < 64; ++i) {
    uint32_t a = s[7] + (rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)) +
                 ((s[4] & s[5]) ^ (~s[4] & s[6])) + k[i] + w[i];
    uint32_t b = (rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)) +
                 ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 7 * sizeof *s);
    s[4] += a;
    s[0] = a + b;
  }
  for (i = 0; i < 8; ++i) h[i] += s[i];
}

static inline int has_sha256(const value* v, const char* hex) {
  uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned char last[128] = {0};
  char got[65];
  const size_t whole = v->size / 64 * 64, rest = v->size - whole, end = rest < 56 ? 64 : 128;
  size_t i;
  for (i = 0; i < whole; i += 64) sha256_block(h, v->data + i);
  if (rest) memcpy(last, v->data + whole, rest);
  last[rest] = 0x80;
  for (i = 0; i < 8; ++i) last[end - 1 - i] = (unsigned char)((uint64_t)v->size * 8 >> (8 * i));
  for (i = 0; i < end; i += 64) sha256_block(h, last + i);
  for (i = 0; i < 8; ++i) snprintf(got + 8 * i, 9, "%08x", (unsigned)h[i]);
  if (strcmp(got, hex) == 0) return 1;
  printf("sha256 %s, expected %s\n", got, hex);
  return 0;
}

/* ---- JSON, of texts that Loom or to_c.py wrote: well formed, without spaces, strings spelled by
 * the same rules */

typedef struct slice {
  const char *begin, *end;
} slice;

static inline slice whole(const value* v) {
  slice s;
  s.begin = (const char*)v->data;
  s.end = s.begin + v->size;
  return s;
}

/* The end of the value that begins at p. */
static inline const char* skip(const char* p, const char* end) {
  int depth = 0;
  while (p < end) {
    const char c = *p++;
    if (c == '"') {
      while (p < end && *p != '"') p += *p == '\\' ? 2 : 1;
      ++p;
    } else if (c == '[' || c == '{') {
      ++depth;
      continue;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' || c == ':') {
      continue;
    } else {
      while (p < end && !strchr(",:]}", *p)) ++p;
    }
    if (depth == 0) break;
  }
  return p;
}

/* The elements of an array or the members of an object one after the other: *at begins as s.begin;
 * `key` is the member's. 0 at the end. */
static inline int next_item(slice s, const char** at, slice* key, slice* item) {
  if (*at == s.begin || **at == ',') ++*at;
  if (*at >= s.end - 1) return 0;
  if (*s.begin == '{') {
    key->begin = *at;
    key->end = skip(*at, s.end);
    *at = key->end + 1;
  }
  item->begin = *at;
  *at = item->end = skip(*at, s.end);
  return 1;
}

static inline int same_text(slice a, slice b) {
  return a.end - a.begin == b.end - b.begin &&
         memcmp(a.begin, b.begin, (size_t)(a.end - a.begin)) == 0;
}

static inline int member(slice object, slice key, slice* found) {
  const char* at = object.begin;
  slice k = {NULL, NULL}, item;
  while (*object.begin == '{' && next_item(object, &at, &k, &item))
    if (same_text(k, key)) {
      *found = item;
      return 1;
    }
  return 0;
}

static inline size_t json_length(slice s) {
  const char* at = s.begin;
  slice key, item;
  size_t n = 0;
  while (next_item(s, &at, &key, &item)) ++n;
  return n;
}

static inline double json_number(slice s) {
  char text[64] = {0};
  const size_t size = (size_t)(s.end - s.begin);
  memcpy(text, s.begin, size < 63 ? size : 63);
  return strtod(text, NULL);
}

static inline int json_equal(slice a, slice b) {
  if (same_text(a, b)) return 1;
  if (a.begin == a.end || b.begin == b.end) return 0;
  if (*a.begin == '{' || *a.begin == '[') {
    const char *at = a.begin, *bt = b.begin;
    slice ka = {NULL, NULL}, kb = {NULL, NULL}, x, y;
    if (*a.begin != *b.begin || json_length(a) != json_length(b)) return 0;
    while (next_item(a, &at, &ka, &x)) {
      if (*a.begin == '{' ? !member(b, ka, &y) : !next_item(b, &bt, &kb, &y)) return 0;
      if (!json_equal(x, y)) return 0;
    }
    return 1;
  }
  if (!strchr("-0123456789", *a.begin) || !strchr("-0123456789", *b.begin)) return 0;
  return json_number(a) == json_number(b);
}

static inline slice text_slice(const char* text) {
  slice s;
  s.begin = text;
  s.end = text + strlen(text);
  return s;
}

static inline int json_is(slice s, const char* expected) {
  if (json_equal(s, text_slice(expected))) return 1;
  printf("%.*s, expected %s\n", (int)(s.end - s.begin), s.begin, expected);
  return 0;
}

static inline int json_contains(slice s, const char* expected) {
  const char* at = s.begin;
  slice key, item;
  while (next_item(s, &at, &key, &item))
    if (json_equal(item, text_slice(expected))) return 1;
  printf("%.*s does not contain %s\n", (int)(s.end - s.begin), s.begin, expected);
  return 0;
}

/* ---- checks */

static inline int same_bytes(const value* v, const void* data, size_t size) {
  return v->size == size && (size == 0 || memcmp(v->data, data, size) == 0);
}

static inline int is_bytes(const value* v, const void* data, size_t size) {
  if (same_bytes(v, data, size)) return 1;
  printf("%d bytes \"%.*s\", expected %d \"%.*s\"\n", (int)v->size, (int)v->size,
         (const char*)v->data, (int)size, (int)size, (const char*)data);
  return 0;
}

static inline int same_number(double got, double expected) { return got == expected; }

static inline int is_number(double got, double expected) {
  if (same_number(got, expected)) return 1;
  printf("%.17g, expected %.17g\n", got, expected);
  return 0;
}

static inline int contains_text(const void* data, size_t size, const char* part, size_t part_size) {
  size_t i;
  for (i = 0; i + part_size <= size; ++i)
    if (memcmp((const char*)data + i, part, part_size) == 0) return 1;
  printf("\"%.*s\" does not contain \"%s\"\n", (int)size, (const char*)data, part);
  return 0;
}

/* `count` numbers of `size` bytes: 4 is float, 8 is double. */
static inline int all_near(const value* v, size_t size, const double* expected, size_t count,
                           double within) {
  size_t i;
  for (i = 0; i < v->size / size; ++i) {
    float f = 0;
    double d = 0;
    if (size == 4) memcpy(&f, v->data + 4 * i, 4), d = f;
    else memcpy(&d, v->data + 8 * i, 8);
    if (!(fabs(d - expected[count == 1 ? 0 : i]) <= within)) return 0;
  }
  return count == 1 || count == v->size / size;
}

/* The call failed as it should. */
static inline int failed_with(int32_t code, int32_t expected, const char* part) {
  if (code == LOOM_OK) printf("it succeeded, expected %s\n", loom_code_name(expected));
  else if (code != expected || error.code != expected)
    printf("%s, expected %s: %s\n", loom_code_name(code), loom_code_name(expected), error.message);
  else return contains_text(error.message, strlen(error.message), part, strlen(part));
  return 0;
}

static inline int succeeded(int32_t code) {
  if (code == LOOM_OK) return 1;
  printf("%s: %s\n", loom_code_name(code), error.message);
  return 0;
}

typedef struct test_case {
  const char* name;
  int (*run)(void);
  int needs_files, needs_embedded;
} test_case;

static inline int run_case(const test_case* c) {
  int64_t before = 0, after = 0;
  int good;
  case_name = c->name;
  loom_live_handles(&before, NULL);
  good = c->run();
  while (made_count > 0) loom_release(made[--made_count], NULL);
  while (allocated_count > 0) free(allocated[--allocated_count]);
  loom_live_handles(&after, NULL);
  return good && (before == after || fail(0, "end", "handles were lost"));
}
