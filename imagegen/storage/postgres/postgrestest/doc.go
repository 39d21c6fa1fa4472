// Package postgrestest starts a PostgreSQL for tests: one server for a test binary, with a database for each
// test. It takes the server's programs from PATH, or from where Debian's packages put them.
package postgrestest
