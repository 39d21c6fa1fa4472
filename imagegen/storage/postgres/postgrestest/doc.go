// Package postgrestest starts a PostgreSQL for tests: one server for a test binary, with a database for each
// test; or for one test a primary with a standby, or a server on the disk. Hosted is the pool of a program that uses a
// database itself, and Unusual a name for a schema in it. The package takes the server's programs from the directory
// that IMAGEGEN_POSTGRES_BIN names, from PATH, or from where Debian's packages put them.
package postgrestest
