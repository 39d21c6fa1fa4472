// Package crash proves that no step of a generation, of an account or of a key is one at which a
// failure or a crash could lose or double anything.
//
// The engine's calls on its store, ledger, images, spool and provider are numbered. In each scenario,
// for each number, that call is refused, fails, is carried out with its answer lost, or is where the
// process dies, before or after it; then a new process takes over. Or the process stands still there
// while another takes over its work, and then goes on as if nothing had been. When all is quiet again, what
// answers said must be true, the books must be right and nothing may be left over. For the
// simplest scenarios the process that takes over dies as well, at each of its own steps. The databases
// are in memory, or in a directory that each process opens anew; they commit together, or share no
// transaction.
package crash
