// Package hostile holds tests of the built daemon with clients that mean harm or are badly broken: they are slow,
// many, or gone at the worst byte; they send what no ordinary client sends. After each of them the books are exact,
// nothing was charged that was not asked for, no file and no descriptor is left open or behind, and other clients are
// served as before. TestSiege runs eight of them at once; with PROOF_TIMES=15 it takes a minute.
package hostile
