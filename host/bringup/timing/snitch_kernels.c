/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The plain kernels of snitch_kernels.S. */

void timing_axpy(int n, const double* x, double* y, double a) {
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

void timing_dot(int n, const double* x, const double* y, double* z) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  *z = sum;
}

void timing_matmul(int n, const double* a, const double* b, double* c) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  }
}
