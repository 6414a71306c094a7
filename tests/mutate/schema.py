"""schema.py - a C file with all of its mutations in it, each behind a number.

A mutation replaces one token of an expression: `a < b` becomes

    (axe_mutant(17) ? (a) <= (b) : (a) < (b))

One is on at a time, so what stands in the first branch is as it was, and the
text grows with the depth of expressions and no faster.

Left out is what cannot be noticed or is words alone:
  what a macro is given (assert, AXE_TRY)   its text stands elsewhere
  arguments of a call that fails or notes   (WORDS) a message's text
  numbers in a comparer                     qsort and bsearch ask for the sign
  what a capacity is set to                 an array grows sooner or later
  operands of sizeof                        are not evaluated
  extents of arrays, enumerators, cases, static data   the compiler's"""
import dataclasses
import re

import clang.cindex as cc
from clang.cindex import CursorKind as K

OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
         "+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "&&": "||",
         "||": "&&", "&": "|", "|": "&", "<<": ">>", ">>": "<<",
         "+=": "-=", "-=": "+=", "*=": "+="}
WORDS = re.compile(r"(axe_)?(\w+_)?(fail|fails|failed|note|warn|refuse)"
                   r"(_at|_here)?$")
CAPACITY = re.compile(r"(cap|cap_\w+|\w+_cap)$")


@dataclasses.dataclass
class Mutation:
    file: str
    line: int
    begin: int
    end: int
    old: str       # what stands there
    new: str       # what stands there then
    id: int = -1

    def __str__(self):
        return f"{self.file}:{self.line}: {' '.join(self.old.split())}" \
               f"  =>  {' '.join(self.new.split())}"


def span(cursor):
    e = cursor.extent
    return e.start.offset, e.end.offset


def is_constant(cursor, parent):
    """Must it be one for the compiler?"""
    if cursor.kind in (K.ENUM_DECL, K.STATIC_ASSERT, K.STRUCT_DECL):
        return True
    if cursor.kind == K.VAR_DECL and \
            cursor.storage_class == cc.StorageClass.STATIC:
        return True
    return parent.kind == K.CASE_STMT and \
        cursor == next(parent.get_children())


def is_words(cursor):
    return cursor.kind == K.CALL_EXPR and WORDS.match(cursor.spelling)


def is_capacity(cursor, kids):
    if cursor.kind == K.VAR_DECL:
        return CAPACITY.match(cursor.spelling)
    return cursor.kind == K.BINARY_OPERATOR and len(kids) == 2 and \
        kids[0].kind in (K.MEMBER_REF_EXPR, K.DECL_REF_EXPR) and \
        CAPACITY.match(kids[0].spelling)


def is_comparer(function):
    """int f(const void *, const void *)"""
    kinds = [x.type.spelling for x in function.get_arguments()]
    return kinds == ["const void *"] * 2 and \
        function.result_type.spelling == "int"


def is_pointer(cursor):
    return cursor.type.get_canonical().kind in (
        cc.TypeKind.POINTER, cc.TypeKind.CONSTANTARRAY)


class File:
    def __init__(self, path, flags):
        self.path = path
        self.text = open(path, "rb").read()
        unit = cc.Index.create().parse(
            path, args=flags,
            options=cc.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        self.macros = [span(c) for c in unit.cursor.get_children()
                       if c.kind == K.MACRO_INSTANTIATION and self.here(c)]
        self.found = []
        for c in unit.cursor.get_children():
            if c.kind == K.FUNCTION_DECL and self.here(c):
                self.comparer = is_comparer(c)
                for x in c.get_children():
                    if x.kind == K.COMPOUND_STMT:
                        self.visit(x, c)

    def here(self, cursor):
        f = cursor.location.file
        return f is not None and f.name == self.path

    def source(self, begin, end):
        return self.text[begin:end].decode()

    def in_macro(self, begin, end):
        return any(b < end and begin < e and not (begin <= b and e <= end)
                   or (b, e) == (begin, end) for b, e in self.macros)

    def add(self, cursor, new):
        begin, end = span(cursor)
        if self.here(cursor) and not self.in_macro(begin, end):
            self.found.append(Mutation(self.path, cursor.extent.start.line,
                                       begin, end, self.source(begin, end),
                                       new))

    def visit(self, cursor, parent):
        kids = list(cursor.get_children())
        if is_constant(cursor, parent) or is_words(cursor) or \
                is_capacity(cursor, kids) or \
                cursor.kind == K.CXX_UNARY_EXPR:
            return
        if cursor.kind == K.VAR_DECL and \
                cursor.type.kind == cc.TypeKind.CONSTANTARRAY:
            kids = [k for k in kids if k.kind == K.INIT_LIST_EXPR]
        if cursor.kind in (K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR):
            self.binary(cursor, kids)
        elif cursor.kind == K.INTEGER_LITERAL:
            text = self.source(*span(cursor))
            if text.isdigit() and not self.comparer:
                self.add(cursor, str(int(text) + 1))
        elif cursor.kind in (K.IF_STMT, K.CONDITIONAL_OPERATOR) and kids:
            self.condition(kids[0])
        for k in kids:
            self.visit(k, cursor)

    def binary(self, cursor, kids):
        if len(kids) != 2:
            return
        left, right = span(kids[0]), span(kids[1])
        between = self.source(left[1], right[0])
        op = between.strip(" \n()\t")
        if op not in OTHER or op == "-" and is_pointer(kids[1]):
            return
        other = between.replace(op, OTHER[op])
        begin, end = span(cursor)
        self.add(cursor, self.source(begin, left[1]) + other +
                 self.source(right[0], end))

    def condition(self, c):
        if c.kind == K.BINARY_OPERATOR:
            return
        self.add(c, f"!({self.source(*span(c))})")

    def written(self, chosen):
        """The file with the chosen mutations in it."""
        chosen = sorted(chosen, key=lambda m: (m.begin, -m.end, m.id))

        def put(begin, end, rest):
            out, at = "", begin
            while rest:
                m = rest.pop(0)
                inside = []
                while rest and rest[0].begin < m.end:
                    inside.append(rest.pop(0))
                out += self.source(at, m.begin)
                out += f"(axe_mutant({m.id}) ? ({' '.join(m.new.split())}) : ("
                out += put(m.begin, m.end, inside) + "))"
                at = m.end
            return out + self.source(at, end)
        return put(0, len(self.text), chosen)
