// Package postgrestest starts a PostgreSQL for tests: one server for a test binary, with a database for each
// test, or a primary with a standby for one test. It takes the server's programs from PATH, or from where Debian's
// packages put them.
package postgrestest
