package config

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Data says where the data lies: in a directory, or in a database and an object store that other machines use too.
type Data struct {
	// DataDir has all of it, or, where it is shared, what is of this machine alone: the admin socket and files on their way.
	DataDir  string
	Database string // the address of a database; "": it lies in DataDir
	Images   string // the address of a bucket, which goes with a Database
}

// Redirect is the value of image-links by which callers read images from the object store.
const Redirect = "redirect"

// Shared reports whether other machines have the data too.
func (d Data) Shared() bool { return d.Database != "" }

// Check refuses half of a configuration.
func (d Data) Check() error {
	switch {
	case d.Database != "" && d.Images == "":
		return errors.New("--database needs --images s3://BUCKET: nodes that share a database share the images too")
	case d.Images != "" && d.Database == "":
		return errors.New("--images needs --database postgres://…: a node with its own database keeps its own images")
	case d.Database != "" && !strings.HasPrefix(d.Database, "postgres://") && !strings.HasPrefix(d.Database, "postgresql://"):
		return errors.New("--database is no address of a database, such as postgres://imagegend@db.example.com/imagegend")
	}
	return nil
}

// String names it without secrets.
func (d Data) String() string {
	if !d.Shared() {
		return d.DataDir
	}
	return fmt.Sprintf("%s and %s", withoutPassword(d.Database), withoutPassword(d.Images))
}

// withoutPassword is an address without the password that it may have, there or among its parameters.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	u.RawQuery = ""
	return u.Redacted()
}
