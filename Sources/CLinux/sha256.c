// SHA-256 of FIPS 180-4: what it does with whole blocks of 64 bytes. Processors of the last years have instructions for it, with
// which hashing a file costs a tenth of importing it; others take the portable form.

#include "CLinux.h"


static const uint32_t constants[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t turned(uint32_t word, int places) { return (word >> places) | (word << (32 - places)); }

void lade_sha256_portable(uint32_t state[8], const uint8_t *bytes, size_t blocks) {
  for (; blocks > 0; blocks--, bytes += 64) {
    uint32_t words[64];
    for (int i = 0; i < 16; i++) {
      const uint8_t *at = bytes + 4 * i;
      words[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
    for (int i = 16; i < 64; i++) {
      uint32_t early = words[i - 15], late = words[i - 2];
      uint32_t small = turned(early, 7) ^ turned(early, 18) ^ (early >> 3);
      uint32_t great = turned(late, 17) ^ turned(late, 19) ^ (late >> 10);
      words[i] = words[i - 16] + small + words[i - 7] + great;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; i++) {
      uint32_t great = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
      uint32_t first = h + great + ((e & f) ^ (~e & g)) + constants[i] + words[i];
      uint32_t small = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
      uint32_t second = small + ((a & b) ^ (a & c) ^ (b & c));
      h = g; g = f; f = e; e = d + first;
      d = c; c = b; b = a; a = first + second;
    }
    state[0] += a; state[1] += b; state[2] += c; state[3] += d;
    state[4] += e; state[5] += f; state[6] += g; state[7] += h;
  }
}

#if defined(__x86_64__)
#include <immintrin.h>

// Intel's SHA extensions: four rounds are two instructions, over the state as (a, b, e, f) and (c, d, g, h).
__attribute__((target("sha,sse4.1,ssse3")))
static void by_instructions(uint32_t state[8], const uint8_t *bytes, size_t blocks) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i low = _mm_loadu_si128((const __m128i *)&state[0]);
  __m128i high = _mm_loadu_si128((const __m128i *)&state[4]);
  low = _mm_shuffle_epi32(low, 0xB1);
  high = _mm_shuffle_epi32(high, 0x1B);
  __m128i abef = _mm_alignr_epi8(low, high, 8);
  __m128i cdgh = _mm_blend_epi16(high, low, 0xF0);
  for (; blocks > 0; blocks--, bytes += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i words[4];
    for (int i = 0; i < 4; i++) {
      words[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(bytes + 16 * i)), swap);
    }
    for (int group = 0; group < 16; group++) {
      __m128i now = words[group & 3];
      __m128i sum = _mm_add_epi32(now, _mm_loadu_si128((const __m128i *)&constants[4 * group]));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
      if (group < 12) {
        // The words of the group after the next three take the place of these.
        __m128i next = words[(group + 1) & 3], third = words[(group + 2) & 3], last = words[(group + 3) & 3];
        __m128i mixed = _mm_add_epi32(_mm_sha256msg1_epu32(now, next), _mm_alignr_epi8(last, third, 4));
        words[group & 3] = _mm_sha256msg2_epu32(mixed, last);
      }
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  low = _mm_shuffle_epi32(abef, 0x1B);
  high = _mm_shuffle_epi32(cdgh, 0xB1);
  _mm_storeu_si128((__m128i *)&state[0], _mm_blend_epi16(low, high, 0xF0));
  _mm_storeu_si128((__m128i *)&state[4], _mm_alignr_epi8(high, low, 8));
}

#include <cpuid.h>

static int has_instructions(void) {
  static int known;  // 0: not asked yet; several threads find out the same
  int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (answer != 0) return answer > 0;
  unsigned a, b, c, d;
  int has = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & (1u << 29)) && __get_cpuid(1, &a, &b, &c, &d)
    && (c & (1u << 19)) && (c & (1u << 9));
  __atomic_store_n(&known, has ? 1 : -1, __ATOMIC_RELAXED);
  return has;
}
#endif

void lade_sha256(uint32_t state[8], const uint8_t *bytes, size_t blocks) {
#if defined(__x86_64__)
  if (has_instructions()) return by_instructions(state, bytes, blocks);
#endif
  lade_sha256_portable(state, bytes, blocks);
}
