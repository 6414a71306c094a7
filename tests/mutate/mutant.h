/* mutant.h - is the change with this number on?  The variable AXE_MUTANT of the
 * environment says which are, `17` or `17,230`.  With AXE_MUTANT_SEEN=FOLDER
 * each process writes there which it came by. */
#ifndef AXE_MUTANT_H
#define AXE_MUTANT_H

enum { AXE_MOST_MUTANTS = 1 << 16 };

extern unsigned char axe_mutant_on[AXE_MOST_MUTANTS];
extern unsigned char axe_mutant_seen[AXE_MOST_MUTANTS];

__attribute__((always_inline)) static inline _Bool
axe_mutant(int id)
{
    axe_mutant_seen[id] = 1;
    return axe_mutant_on[id];
}

#endif
