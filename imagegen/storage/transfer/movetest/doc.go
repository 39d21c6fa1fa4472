// Package movetest moves between every two storages. It is a module of its own because the library, which embedders
// require, must not require what PostgreSQL and S3 need.
package movetest
