package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Data says where the data lies: in a directory of one machine, or in a database and an object store that several
// machines share.
type Data struct {
	// DataDir holds all of it or, where the data is shared, what belongs to this machine alone: the admin socket, and
	// files on their way to the bucket.
	DataDir  string
	Database string // address of a PostgreSQL database; "": the data lies in DataDir
	Images   string // address of a bucket; set if and only if Database is

	DatabaseSchema      string // in Database; "": DefaultSchema
	DatabaseConnections int    // at most; 0: what Database says itself, or the library's default
}

// DefaultSchema is the schema of a database that nothing else is said of.
const DefaultSchema = "imagegend"

// Redirect is the value of --image-links with which callers read images from the object store.
const Redirect = "redirect"

// Shared reports whether several machines have the data.
func (d Data) Shared() bool { return d.Database != "" }

// Check refuses a database without a bucket, a bucket without a database, and an address of another kind. It connects
// to nothing.
func (d Data) Check() error {
	switch {
	case d.Database != "" && d.Images == "":
		return errors.New("--database needs --images s3://BUCKET: nodes that share a database share the images too")
	case d.Images != "" && d.Database == "":
		return errors.New("--images needs --database postgres://…: a node with its own database keeps its own images")
	case d.Database != "" && !strings.HasPrefix(d.Database, "postgres://") && !strings.HasPrefix(d.Database,
		"postgresql://"):
		return errors.New("--database is not the address of a PostgreSQL database, such as postgres://imagegend@db.example.com/imagegend")
	}
	return nil
}

// String names the place without secrets.
func (d Data) String() string {
	if !d.Shared() {
		return d.DataDir
	}
	schema := ""
	if d.DatabaseSchema != "" && d.DatabaseSchema != DefaultSchema {
		schema = fmt.Sprintf(" (schema %s)", d.DatabaseSchema)
	}
	return fmt.Sprintf("%s%s and %s", withoutPassword(d.Database), schema, withoutPassword(d.Images))
}

// withoutPassword returns an address without the user's password and without parameters, which may hold one too. It
// never repeats an address that it cannot read.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	u.RawQuery = ""
	return u.Redacted()
}
