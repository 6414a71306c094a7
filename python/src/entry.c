/* entry.c - what is known of calls: entries by key, and how one is made.
 *
 * A key that is new goes to the method `_bind` of Python's class, which answers
 *
 *     (exec, param, number, sizes, alloc, wrap, result, stream)
 *
 * param   number of the parameter of each view: arguments, arrays given as
 *         out=, arrays that alloc makes
 * number  for each argument the type that a number becomes, else None
 * alloc   callables that make the arrays that are not given
 * wrap    what turns a made array into the result, or None
 * result  numbers of the views that are returned
 * stream  of a GPU: a callable of the arguments and out= that says which, or
 *         None */
#include <stdlib.h>
#include <string.h>

#include "call.h"

enum { MAX_ENTRY = 4096 };

/* ----------------------------------------------------------------- entries */

void
axepy_entry_drop(entry *e)
{
    if (!e || --e->refs > 0)
        return;
    axe_call_free(e->call);
    Py_XDECREF(e->binding);
    Py_XDECREF(e->classes);
    free(e->size);
    free(e);
}

void
axepy_entries_forget(entries *t)
{
    entry **old = t->table;
    int     n = t->n_place;

    t->table = NULL;
    t->n_entry = t->n_place = 0;
    for (int i = 0; i < n; i++)
        axepy_entry_drop(old[i]);
    free(old);
}

static int
place_of(const entries *t, uint64_t hash, int n_word, const int64_t *word)
{
    int mask = t->n_place - 1, i = (int)(hash >> 20) & mask;

    for (; t->table[i]; i = (i + 1) & mask) {
        const entry *e = t->table[i];
        if (e->hash == hash && e->n_word == n_word &&
            memcmp(e->word, word, (size_t)n_word * sizeof word[0]) == 0)
            break;
    }
    return i;
}

static bool
grow(entries *t)
{
    entries bigger = {.n_place = t->n_place ? 2 * t->n_place : 16};

    bigger.table = calloc((size_t)bigger.n_place, sizeof bigger.table[0]);
    if (!bigger.table)
        return false;
    for (int i = 0; i < t->n_place; i++)
        if (t->table[i]) {
            entry *e = t->table[i];
            bigger.table[place_of(&bigger, e->hash, e->n_word, e->word)] = e;
        }
    free(t->table);
    t->table = bigger.table;
    t->n_place = bigger.n_place;
    return true;
}

int
axepy_entries_keep(entries *t, entry *e)
{
    int i;

    if (t->n_entry >= MAX_ENTRY)
        axepy_entries_forget(t);
    if (2 * (t->n_entry + 1) > t->n_place && !grow(t)) {
        PyErr_NoMemory();
        return -1;
    }
    i = place_of(t, e->hash, e->n_word, e->word);
    if (t->table[i])
        axepy_entry_drop(t->table[i]);
    else
        t->n_entry++;
    e->refs++;
    t->table[i] = e;
    return 0;
}

entry *
axepy_entries_find(const entries *t, const request *r)
{
    entry *e = t->n_place > 0
                   ? t->table[place_of(t, r->hash, r->n_word, r->word)]
                   : NULL;

    if (e)
        e->refs++;
    return e;
}

/* ----------------------------------------------------------------- binding */

static int
take_indices(PyObject *tuple, int *n, uint8_t *out)
{
    *n = (int)PyTuple_Size(tuple);
    if (*n > AXEPY_ARRAYS) {
        axepy_fail(AXE_EARG, "there are at most %d arrays", AXEPY_ARRAYS);
        return -1;
    }
    for (int i = 0; i < *n; i++)
        out[i] = (uint8_t)PyLong_AsLong(PyTuple_GetItem(tuple, i));
    return PyErr_Occurred() ? -1 : 0;
}

static void
take_params(entry *e)
{
    const axe_program *p = e->exec->program->program;

    e->n_param = axe_program_n_param(p);
    for (int i = 0; i < e->n_view; i++) {
        axe_param q = axe_program_param(p, e->param[i]);
        e->name[i] = q.name;
        e->written[i] = q.access != AXE_READS;
    }
}

/* Sizes by names that live as long as the binding. */
static int
take_sizes(entry *e, PyObject *sizes)
{
    e->n_size = (int)PyTuple_Size(sizes);
    e->size = calloc((size_t)e->n_size + 1, sizeof e->size[0]);
    for (int i = 0; e->size && i < e->n_size; i++) {
        PyObject *pair = PyTuple_GetItem(sizes, i);
        e->size[i].name =
            PyUnicode_AsUTF8AndSize(PyTuple_GetItem(pair, 0), NULL);
        e->size[i].value = PyLong_AsLongLong(PyTuple_GetItem(pair, 1));
    }
    if (!e->size)
        PyErr_NoMemory();
    return PyErr_Occurred() ? -1 : 0;
}

static int
fill(entry *e)
{
    PyObject *exec, *param, *number, *sizes, *result;

    if (!PyArg_ParseTuple(e->binding, "O!O!O!O!O!OO!O", axepy_exec_type, &exec,
                          &PyTuple_Type, &param, &PyTuple_Type, &number,
                          &PyTuple_Type, &sizes, &PyTuple_Type, &e->alloc,
                          &e->wrap, &PyTuple_Type, &result, &e->stream))
        return -1;
    e->exec = (axepy_exec *)exec;
    e->n_alloc = (int)PyTuple_Size(e->alloc);
    if (take_indices(param, &e->n_view, e->param) < 0 ||
        take_indices(result, &e->n_result, e->result) < 0 ||
        take_sizes(e, sizes) < 0)
        return -1;
    for (int i = 0; i < (int)PyTuple_Size(number) && i < AXEPY_ARRAYS; i++) {
        PyObject *t = PyTuple_GetItem(number, i);
        e->number[i] = t == Py_None ? NULL : PyUnicode_AsUTF8AndSize(t, NULL);
    }
    take_params(e);
    return PyErr_Occurred() ? -1 : 0;
}

PyObject *
axepy_given(const request *r, int i)
{
    if (i < r->n_arg)
        return PyTuple_GetItem(r->args, i);
    return PyTuple_Check(r->out) ? PyTuple_GetItem(r->out, i - r->n_arg)
                                 : r->out;
}

static PyObject *
classes_of(const request *r)
{
    PyObject *out = PyTuple_New(r->n_arg + r->n_out);

    for (int i = 0; out && i < r->n_arg + r->n_out; i++) {
        PyObject *c = (PyObject *)Py_TYPE(axepy_given(r, i));
        Py_INCREF(c);
        PyTuple_SetItem(out, i, c);
    }
    return out;
}

entry *
axepy_bind(PyObject *self, request *r)
{
    size_t    bytes = (size_t)r->n_word * sizeof r->word[0];
    PyObject *out = r->out ? r->out : Py_None;
    PyObject *b =
        PyObject_CallMethod(self, "_bind", "OOO", r->args, out, r->device);
    entry *e = b ? calloc(1, sizeof *e + bytes) : NULL;

    if (!e) {
        Py_XDECREF(b);
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return NULL;
    }
    e->refs = 1;
    e->binding = b;
    e->n_word = r->n_word;
    e->hash = r->hash;
    memcpy(e->word, r->word, bytes);
    e->classes = classes_of(r);
    if (e->classes && fill(e) == 0)
        return e;
    axepy_entry_drop(e);
    return NULL;
}
