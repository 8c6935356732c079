/* Computations of a network by element in a loop over time, without a tensor between two operations (`elementwise.py`).

   Numbers are float32, or where a product gave them or reads them bfloat16 (half). Rows are divided among the threads
   of OpenMP; no sum depends on how many there are. */

#include <stdint.h>
#include <string.h>

/* A function for each kind of processor, of which the one is chosen that runs on this. */
#if !defined(__x86_64__) || !defined(__linux__)
#define PROCESSORS
#elif __GNUC__ >= 12
#define PROCESSORS __attribute__((target_clones("arch=sapphirerapids", "arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PROCESSORS __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#define WITHIN static inline __attribute__((always_inline))

/* x P(x²) / Q(x²) for |x| ≤ 9, behind which float32 has ±1: a least-squares fit, right to three units in the last
   place. */
WITHIN float tanh_of(float x)
{
    x = x > 9.f ? 9.f : x < -9.f ? -9.f : x;
    float z = x * x;
    float p = 1.33546472e-08f;
    p = p * z + 2.06090717e-05f;
    p = p * z + 3.4955875e-03f;
    p = p * z + 1.33810252e-01f;
    p = p * z + 1.f;
    float q = 7.77655202e-07f;
    q = q * z + 3.28563357e-04f;
    q = q * z + 2.58769803e-02f;
    q = q * z + 4.67143416e-01f;
    q = q * z + 1.f;
    float t = x * p / q;
    return t > 1.f ? 1.f : t < -1.f ? -1.f : t;
}

/* 1 / (1 + 2^k e^r), with −x = k ln 2 + r and |r| ≤ ln 2 / 2: the series of e^r ends where float32 does. */
WITHIN float sigmoid_of(float x)
{
    x = x > 87.f ? 87.f : x < -87.f ? -87.f : x;
    float shifted = x * -1.44269504f + 12582912.f; /* 1.5 · 2^23: what is behind the point is rounded away */
    float k = shifted - 12582912.f;
    float r = (-x - k * 0.693359375f) + k * 2.12194440e-4f;
    float e = 1.f / 5040;
    e = e * r + 1.f / 720;
    e = e * r + 1.f / 120;
    e = e * r + 1.f / 24;
    e = e * r + 1.f / 6;
    e = e * r + 0.5f;
    e = e * r + 1.f;
    e = e * r + 1.f;
    union { int32_t bits; float power; } two = { ((int32_t)k + 127) << 23 };
    return 1.f / (1.f + e * two.power);
}

WITHIN float number(const void *values, int64_t i, int half)
{
    if (!half)
        return ((const float *)values)[i];
    union { uint32_t bits; float value; } of = { (uint32_t)((const uint16_t *)values)[i] << 16 };
    return of.value;
}

/* Half to the nearest, of two the even one; what is no number stays none. */
WITHIN void put(void *values, int64_t i, int half, float x)
{
    union { float value; uint32_t bits; } of = { x };
    uint32_t rounded = (of.bits + 0x7fff + ((of.bits >> 16) & 1)) >> 16;
    if (half)
        ((uint16_t *)values)[i] = x != x ? 0x7fc0 : (uint16_t)rounded;
    else
        ((float *)values)[i] = x;
}

/* e_j = vᵀ tanh(q + k_j) + b_e, for the first `reach` of the columns of a sentence. */
PROCESSORS static void score_row(int64_t reach, int64_t width, const float *restrict query, const float *restrict keys,
                                 const float *restrict vector, float bias, float *restrict scores)
{
    for (int64_t j = 0; j < reach; j++) {
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t i = 0; i < width; i++)
            sum += vector[i] * tanh_of(query[i] + keys[j * width + i]);
        scores[j] = sum + bias;
    }
}

/* With t = tanh(q + k_j) and the gradient g_j of e_j: adds Σ g t to `of_vector` (A), g t² to `squares` (N, A), and
   gives that of the query, v ⊙ Σ g (1 − t²). */
PROCESSORS static void score_row_back(int64_t reach, int64_t width, const float *restrict gradient,
                                      const float *restrict query, const float *restrict keys,
                                      const float *restrict vector, float *restrict of_query, float *restrict squares,
                                      float *restrict of_vector)
{
    memset(of_query, 0, width * sizeof *of_query);
    for (int64_t j = 0; j < reach; j++) {
        float g = gradient[j];
#pragma omp simd
        for (int64_t i = 0; i < width; i++) {
            float t = tanh_of(query[i] + keys[j * width + i]);
            float once = g * t, twice = once * t;
            of_vector[i] += once;
            squares[j * width + i] += twice;
            of_query[i] += g - twice;
        }
    }
    for (int64_t i = 0; i < width; i++)
        of_query[i] *= vector[i];
}

WITHIN int64_t within(int64_t reach, int64_t columns) { return reach < columns ? reach : columns; }

/* Rows (R, A) of sentences `owner` (R), or without it each its own; keys (B, N, A); `reach` (B); scores (R, N). */
void score(int64_t rows, int64_t columns, int64_t width, const float *query, const float *keys, const float *vector,
           float bias, const int64_t *owner, const int64_t *reach, float *scores)
{
#pragma omp parallel for schedule(static, 1)
    for (int64_t row = 0; row < rows; row++) {
        int64_t of = owner ? owner[row] : row;
        score_row(within(reach[of], columns), width, query + row * width, keys + of * columns * width, vector, bias,
                  scores + row * columns);
    }
}

/* The same for a row of each sentence: gradient (R, N), of_query (R, A), squares (≥R, N, A), of_vector (≥R, A). */
void score_back(int64_t rows, int64_t columns, int64_t width, const float *gradient, const float *query,
                const float *keys, const float *vector, const int64_t *reach, float *of_query, float *squares,
                float *of_vector)
{
#pragma omp parallel for schedule(static, 1)
    for (int64_t row = 0; row < rows; row++) {
        int64_t first = row * columns * width;
        score_row_back(within(reach[row], columns), width, gradient + row * columns, query + row * width, keys + first, vector,
                       of_query + row * width, squares + first, of_vector + row * width);
    }
}

/* Rows: where the first stands, how many numbers it is from one to the next, and whether they are half. */
struct rows {
    char *first;
    int64_t row;
    int32_t half;
};

WITHIN void *row_of(const struct rows *rows, int64_t row)
{
    return rows->first + row * rows->row * (rows->half ? 2 : 4);
}

/* [r; z] = sigmoid(x + u), n = tanh(x + r ⊙ u), h' = n + z ⊙ (h − n) of x = W x + b and u = U h (3·H), h (H). */
WITHIN void gru_row(int64_t size, const void *restrict x, int half_x, const void *restrict u, int half_u,
                    const float *restrict state, float *restrict gates, float *restrict new)
{
#pragma omp simd
    for (int64_t i = 0; i < size; i++) {
        float r = sigmoid_of(number(x, i, half_x) + number(u, i, half_u));
        float z = sigmoid_of(number(x, size + i, half_x) + number(u, size + i, half_u));
        float n = tanh_of(number(x, 2 * size + i, half_x) + r * number(u, 2 * size + i, half_u));
        gates[i] = r;
        gates[size + i] = z;
        gates[2 * size + i] = n;
        new[i] = n + z * (state[i] - n);
    }
}

WITHIN void gru_row_back(int64_t size, const float *restrict gradient, const float *restrict gates,
                         const float *restrict state, const void *restrict u, int half_u, void *restrict of_x,
                         int half_x, void *restrict of_u, float *restrict of_state)
{
#pragma omp simd
    for (int64_t i = 0; i < size; i++) {
        float g = gradient[i], r = gates[i], z = gates[size + i], n = gates[2 * size + i];
        float of_n = g * (1 - z) * (1 - n * n);
        float of_z = g * (state[i] - n) * z * (1 - z);
        float of_r = of_n * number(u, 2 * size + i, half_u) * r * (1 - r);
        put(of_x, i, half_x, of_r);
        put(of_x, size + i, half_x, of_z);
        put(of_x, 2 * size + i, half_x, of_n);
        put(of_u, i, half_u, of_r);
        put(of_u, size + i, half_u, of_z);
        put(of_u, 2 * size + i, half_u, of_n * r);
        of_state[i] = g * z;
    }
}

/* Each kind of numbers gets loops of its own. */
PROCESSORS static void gru_row_of_kind(int64_t size, const void *x, int half_x, const void *u, int half_u,
                                       const float *state, float *gates, float *new)
{
    if (half_x && half_u)
        gru_row(size, x, 1, u, 1, state, gates, new);
    else if (half_x)
        gru_row(size, x, 1, u, 0, state, gates, new);
    else if (half_u)
        gru_row(size, x, 0, u, 1, state, gates, new);
    else
        gru_row(size, x, 0, u, 0, state, gates, new);
}

PROCESSORS static void gru_row_back_of_kind(int64_t size, const float *gradient, const float *gates, const float *state,
                                            const void *u, int half_u, void *of_x, int half_x, void *of_u,
                                            float *of_state)
{
    if (half_x && half_u)
        gru_row_back(size, gradient, gates, state, u, 1, of_x, 1, of_u, of_state);
    else if (half_x)
        gru_row_back(size, gradient, gates, state, u, 0, of_x, 1, of_u, of_state);
    else if (half_u)
        gru_row_back(size, gradient, gates, state, u, 1, of_x, 0, of_u, of_state);
    else
        gru_row_back(size, gradient, gates, state, u, 0, of_x, 0, of_u, of_state);
}

/* What a GRU does after its products: gates [r; z; n] and h', of W x + b, U h and h. */
void gru(int64_t rows, int64_t size, struct rows x, struct rows u, struct rows state, struct rows gates,
         struct rows new)
{
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++)
        gru_row_of_kind(size, row_of(&x, row), x.half, row_of(&u, row), u.half, row_of(&state, row),
                        row_of(&gates, row), row_of(&new, row));
}

/* Going back, the gradients of W x + b, U h and h, of that of h'. */
void gru_back(int64_t rows, int64_t size, struct rows gradient, struct rows gates, struct rows state, struct rows u,
              struct rows of_x, struct rows of_u, struct rows of_state)
{
#pragma omp parallel for
    for (int64_t row = 0; row < rows; row++)
        gru_row_back_of_kind(size, row_of(&gradient, row), row_of(&gates, row), row_of(&state, row), row_of(&u, row),
                             u.half, row_of(&of_x, row), of_x.half, row_of(&of_u, row), row_of(&of_state, row));
}
