// Package hostile holds tests whose clients mean harm, or are broken beyond words, against the
// built daemon: they are slow, many, or gone at the worst byte; they send what no client would. After
// each of them the books are exact, nothing was charged for what was not asked for, no file and no
// descriptor is left, and other clients are served as before. TestSiege has eight of them at once;
// PROOF_TIMES=15 makes a minute of it.
package hostile
