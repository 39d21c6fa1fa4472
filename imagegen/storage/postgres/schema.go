package postgres

import (
	"context"
	"errors"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// DefaultSchema is where the tables lie unless Config.Schema says otherwise.
const DefaultSchema = "imagegend"

// schema is where the tables lie. All statements of this package are written for DefaultSchema, so that they can be
// tried by hand as they stand. For any other they are written anew, each once: their texts are few and have no values.
// A search_path would do without that, but belongs to a session.
type schema struct {
	name    string
	written sync.Map // by the text as it stands in this package
}

// longestName is how many bytes of a name PostgreSQL keeps; it cuts a longer one.
const longestName = 63

// newSchema takes a name as it is, without quotes; "": DefaultSchema.
func newSchema(name string) (*schema, error) {
	switch {
	case name == "":
		name = DefaultSchema
	case len(name) > longestName, strings.ContainsRune(name, 0), !utf8.ValidString(name):
		return nil, errors.New("postgres: the name of a schema has to be of at most 63 bytes of UTF-8, without NUL")
	}
	return &schema{name: name}, nil
}

func (s *schema) String() string { return pgx.Identifier{s.name}.Sanitize() }

// in returns a statement for this schema.
func (s *schema) in(sql string) string {
	if s.name == DefaultSchema {
		return sql
	}
	written, known := s.written.Load(sql)
	if !known {
		written = strings.ReplaceAll(sql, DefaultSchema+".", s.String()+".")
		s.written.Store(sql, written)
	}
	return written.(string)
}

// literal is a text as SQL has it between single quotes.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// sender is a connection, a pool of them, or a transaction.
type sender interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// inSchema sends statements that are about a schema. Nothing else sends any.
type inSchema struct {
	to     sender
	schema *schema
}

func (i inSchema) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	return i.to.Exec(ctx, i.schema.in(sql), args...)
}

func (i inSchema) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return i.to.Query(ctx, i.schema.in(sql), args...)
}

func (i inSchema) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return i.to.QueryRow(ctx, i.schema.in(sql), args...)
}

// SendBatch does a batch in one round trip.
func (i inSchema) SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	for _, q := range b.QueuedQueries {
		q.SQL = i.schema.in(q.SQL)
	}
	return i.to.SendBatch(ctx, b)
}
