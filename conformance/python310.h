/* Lets NumPy 1.20 be built for Python 3.10, in which _Py_HashDouble takes an object too: the one
   whose hash stands for that of a NaN. */
#ifdef NPY_INTERNAL_BUILD
#include <Python.h>
#define _Py_HashDouble(number) _Py_HashDouble(NULL, number)
#endif
