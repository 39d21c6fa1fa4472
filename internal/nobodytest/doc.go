// Package nobodytest lets tests meet what a user may not do, also where root runs them.
package nobodytest
