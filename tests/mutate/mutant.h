/* mutant.h - which mutation is on; included first in every file that
 * tests/mutate/run makes.  $AXE_MUTANT is its number; $AXE_MUTANT_SEEN a folder
 * that gets a file of the numbers that were reached, from each process. */
#ifndef AXE_MUTANT_H
#define AXE_MUTANT_H

extern _Bool axe_mutant(int id);

#endif
