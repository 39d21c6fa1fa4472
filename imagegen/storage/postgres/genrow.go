package postgres

import (
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// genRow is a generation as it lies in columns, and its images, references and attempts as they lie in tables of their
// own. What of it follows from the Row is made by lay, and taken back by lift.
type genRow struct {
	tables.Row
	status, failure, detail string
	hash                    [32]byte // of the idempotency key
	options                 options
	upstreams               []string
	balance, expires        *int64
	accountType             string
	expiresAt               time.Time
	counts                  [3]int // of parts: one that has none is read without a look at their tables
	parts
}

// parts are the rows of other tables, as a query gives them.
type parts struct {
	images     []image
	references []reference
	attempts   []attempt
}

var generations = newKind("generations", 1, `id text, usr text, payer text, api_key text, model text, prompt text, n integer,
 width integer, height integer, quality text, effort text, ratio text, tier text, price bigint, options jsonb,
 async boolean, idempotency_key text, idempotency_hash bytea, nth bigint, fingerprint bytea, join_key bytea,
 created_at timestamptz, charged_here boolean, state text, status text, attempt integer, failures integer,
 resumptions integer, delay interval, due_at timestamptz, job bytea, job_upstreams jsonb, published integer, failure text,
 failure_detail text, completed_at timestamptz, balance bigint, balance_account_type text, balance_expires bigint,
 balance_expires_at timestamptz, undelivered boolean, favourite boolean, partly_cancelled boolean, dispute text,
 refunded boolean, hosted boolean, image_count integer, reference_count integer, attempt_count integer`, func(g *genRow) []any {
	return []any{&g.ID, &g.User, orNull(&g.Payer), orNull(&g.KeyID), &g.Model, orNull(&g.Prompt), &g.N,
		&g.Size.Width, &g.Size.Height, orNull(&g.Quality), orNull(&g.Effort), orNull(&g.Ratio), orNull(&g.Tier),
		&g.Price, &g.options, &g.Async, orNull(&g.IdempotencyKey), hash(g.hash[:]), &g.Nth, hash(g.Fingerprint[:]),
		hash(g.JoinKey[:]), at(&g.CreatedAt), &g.Joint, &g.State, orNull(&g.status), &g.Attempt, &g.Failures,
		&g.Resumptions, span{&g.Delay}, at(&g.Due), &g.Job, &g.upstreams, &g.Published, orNull(&g.failure),
		orNull(&g.detail), at(&g.CompletedAt), &g.balance, orNull(&g.accountType), &g.expires, at(&g.expiresAt),
		&g.Undelivered, &g.Favourite, &g.PartlyCancelled, orNull(&g.Dispute), &g.Refunded, &g.Hosted,
		&g.counts[0], &g.counts[1], &g.counts[2]}
})

// lay makes the columns of a row.
func lay(r tables.Row) *genRow {
	g := &genRow{Row: r, status: string(r.Status()), options: options(r.Options), upstreams: r.JobUpstreams}
	g.counts = [3]int{len(r.Images), len(r.References), len(r.Costs)}
	if r.IdempotencyKey != "" {
		g.hash = imagegen.IdempotencyHash(r.IdempotencyKey)
	}
	if strings.HasPrefix(r.IdempotencyKey, "\x00") {
		g.IdempotencyKey = "" // an erasure has left the hash
	}
	if f := r.Failure; f != nil {
		g.failure, g.detail = f.Class.String(), f.Detail
	}
	if b := r.Balance; b != nil {
		g.balance, g.accountType = new(int64(b.Credits)), b.AccountType
		if e := b.NextExpiration; e != nil {
			g.expires, g.expiresAt = new(int64(e.Credits)), e.At
		}
	}
	for n, i := range r.Images {
		g.images = append(g.images, image{r.ID, n, i})
	}
	for n, f := range r.References {
		g.references = append(g.references, reference{r.ID, n, f})
	}
	for n, c := range r.Costs {
		g.attempts = append(g.attempts, attempt{r.ID, n, c})
	}
	return g
}

// lift makes the row of its columns.
func (g *genRow) lift() tables.Row {
	r := g.Row
	r.Options, r.JobUpstreams = imagegen.Options(g.options), g.upstreams
	if g.hash != [32]byte{} && r.IdempotencyKey == "" {
		r.IdempotencyKey = "\x00" + string(g.hash[:])
	}
	if g.failure != "" {
		r.Failure = &imagegen.Failure{Class: classes[g.failure], Detail: g.detail}
	}
	if g.balance != nil {
		r.Balance = &imagegen.Balance{Credits: imagegen.Credits(*g.balance), AccountType: g.accountType}
		if g.expires != nil {
			r.Balance.NextExpiration = &imagegen.Expiration{Credits: imagegen.Credits(*g.expires), At: g.expiresAt}
		}
	}
	for _, i := range g.images {
		r.Images = append(r.Images, i.StoredImage)
	}
	for _, f := range g.references {
		r.References = append(r.References, f.ReferenceFile)
	}
	for _, a := range g.attempts {
		r.Costs = append(r.Costs, a.AttemptCost)
	}
	return r
}

// classes are the classes of failures by their names.
var classes = func() map[string]imagegen.Class {
	all := make(map[string]imagegen.Class)
	for c := imagegen.ClassUnknown; c <= imagegen.ClassStorage; c++ {
		all[c.String()] = c
	}
	return all
}()

type (
	image struct {
		of imagegen.GenerationID
		nr int
		imagegen.StoredImage
	}
	reference struct {
		of imagegen.GenerationID
		nr int
		imagegen.ReferenceFile
	}
	attempt struct {
		of imagegen.GenerationID
		nr int
		imagegen.AttemptCost
	}
)

var (
	images = newKind("images", 2, `generation text, nr integer, id text, attempt integer, media_type text, width integer,
 height integer, bytes bigint, sha256 bytea, created_at timestamptz, provenance text`, func(i *image) []any {
		return []any{&i.of, &i.nr, &i.ID, &i.Attempt, &i.MediaType, &i.Width, &i.Height, &i.Size, fixed(i.SHA256[:]),
			at(&i.CreatedAt), orNull(&i.Provenance)}
	})
	references = newKind("reference_images", 2, `generation text, nr integer, id text, mask boolean, image text,
 media_type text, bytes bigint, width integer, height integer, sha256 bytea, orientation integer, copy_of text`,
		func(f *reference) []any {
			return []any{&f.of, &f.nr, &f.ID, &f.Mask, orNull(&f.Image), &f.MediaType, &f.Size, &f.Width, &f.Height,
				fixed(f.SHA256[:]), &f.Orientation, orNull(&f.CopyOf)}
		})
	attempts = newKind("attempts", 2, `generation text, nr integer, attempt integer, provider text, images bigint,
 text_input bigint, image_input bigint, text_output bigint, image_output bigint, units bigint, machine_time interval,
 surplus bigint, cost bigint, reason text`, func(a *attempt) []any {
		u := &a.Usage
		return []any{&a.of, &a.nr, &a.Attempt, &a.Provider, &a.Images, &u.TextInput, &u.ImageInput, &u.TextOutput,
			&u.ImageOutput, &u.Units, span{&u.Time}, &u.Surplus, &a.Cost, &a.Reason}
	})
)

// wholeRows is what a query for generations, which it calls t, selects: the columns, and the rows of other tables as
// arrays of arrays, in whose place NULL stands if there are none.
var wholeRows = generations.of("t") + aggregated(images, "image_count") +
	aggregated(references, "reference_count") + aggregated(attempts, "attempt_count")

// fromGenerations is a query for whole generations, but for its conditions.
var fromGenerations = `select ` + wholeRows + ` from imagegend.generations t`

// aggregated selects the rows of a generation in another table, as JSON.
func aggregated[V any](k kind[V], count string) string {
	values := make([]string, len(k.columns))
	for i, c := range k.columns {
		switch values[i] = "p." + c; k.types[i] {
		case "bytea":
			values[i] = "encode(p." + c + ", 'hex')"
		case "timestamptz", "interval":
			values[i] = "(extract(epoch from p." + c + ") * 1000000)::bigint"
		}
	}
	return `, case when t.` + count + ` > 0 then (select jsonb_agg(jsonb_build_array(` + strings.Join(values, ", ") +
		`) order by p.nr) from ` + k.table + ` p where p.generation = t.id) end`
}

// aggregate is a list of rows as aggregated selects them.
type aggregate[V any] struct {
	kind[V]
	all *[]V
}

// UnmarshalJSON implements json.Unmarshaler.
func (a aggregate[V]) UnmarshalJSON(stored []byte) error {
	var rows [][]json.RawMessage
	if err := json.Unmarshal(stored, &rows); err != nil {
		return err
	}
	*a.all = make([]V, len(rows))
	for i, row := range rows {
		for n, cell := range a.cells(&(*a.all)[i]) {
			if err := unmarshal(row[n], cell); err != nil {
				return err
			}
		}
	}
	return nil
}

// unmarshal reads a cell of a row that was aggregated.
func unmarshal(stored json.RawMessage, cell any) (err error) {
	switch c := cell.(type) {
	case fixed:
		var text string
		if err = json.Unmarshal(stored, &text); err == nil {
			_, err = hex.Decode(c, []byte(text))
		}
		return err
	case moment:
		var micro *int64
		if err = json.Unmarshal(stored, &micro); err == nil && micro != nil {
			*c.of = time.UnixMicro(*micro).UTC()
		}
		return err
	case span:
		var micro int64
		err = json.Unmarshal(stored, &micro)
		*c.of = time.Duration(micro) * time.Microsecond
		return err
	}
	if v := reflect.ValueOf(cell); v.Kind() == reflect.Struct { // an optional text
		cell = v.Field(0).Interface()
	}
	return json.Unmarshal(stored, cell)
}

// scanGenerations calls f for each row of a query for wholeRows.
func scanGenerations(rows pgx.Rows, f func(*genRow)) error {
	for rows.Next() {
		g := new(genRow)
		var parts [3]*string
		if err := rows.Scan(append(generations.cells(g), &parts[0], &parts[1], &parts[2])...); err != nil {
			return err
		}
		for i, into := range []json.Unmarshaler{aggregate[image]{images, &g.images},
			aggregate[reference]{references, &g.references}, aggregate[attempt]{attempts, &g.attempts}} {
			if parts[i] == nil {
				continue
			}
			if err := into.UnmarshalJSON([]byte(*parts[i])); err != nil {
				return err
			}
		}
		f(g)
	}
	return rows.Err()
}

// options are the options as they lie in the database.
type options struct {
	Format      imagegen.Format     `json:"format,omitempty"`
	Compression *int                `json:"compression,omitempty"`
	Background  imagegen.Background `json:"background,omitempty"`
	Seed        *int64              `json:"seed,omitempty"`
}

// flushRows writes the generations that were changed: what was not there is inserted, what is gone is deleted, and what
// came and went within the session leaves no trace. The rows in other tables are written anew where they have changed.
func (s *session) flushRows(b *pgx.Batch) {
	var fresh, changed []*genRow
	var gone []imagegen.GenerationID
	var now parts // that are to be inserted
	var were [3][]imagegen.GenerationID
	for id, g := range s.rows {
		there := g.was.State != imagegen.StateGone
		if !g.changed || !there && g.State == imagegen.StateGone {
			continue
		}
		is := g.Row
		if is.State == imagegen.StateGone {
			is = tables.Row{} // nothing of it stays
		}
		row := lay(is)
		switch {
		case g.State == imagegen.StateGone:
			gone = append(gone, id)
		case there:
			changed = append(changed, row)
		default:
			fresh = append(fresh, row)
		}
		differ(id, g.was.Images, is.Images, row.images, &now.images, &were[0])
		differ(id, g.was.References, is.References, row.references, &now.references, &were[1])
		differ(id, g.was.Costs, is.Costs, row.attempts, &now.attempts, &were[2])
	}
	generations.insert(b, fresh)
	generations.update(b, changed)
	if len(gone) > 0 {
		b.Queue(`delete from imagegend.generations where id = any($1)`, list(gone...))
	}
	anew(b, images, were[0], now.images)
	anew(b, references, were[1], now.references)
	anew(b, attempts, were[2], now.attempts)
	s.flushWork(b)
}

// differ adds the rows of a generation in another table, and notes that former ones are there, if they have changed.
func differ[V comparable, R any](id imagegen.GenerationID, was, is []V, rows []R, now *[]R,
	were *[]imagegen.GenerationID) {
	if slices.Equal(was, is) {
		return
	}
	*now = append(*now, rows...)
	if len(was) > 0 {
		*were = append(*were, id)
	}
}

// anew queues the removal of the rows of some generations in another table, and the insertion of others.
func anew[V any](b *pgx.Batch, k kind[V], were []imagegen.GenerationID, now []V) {
	if len(were) > 0 {
		b.Queue(`delete from `+k.table+` where generation = any($1)`, list(were...))
	}
	all := make([]*V, len(now))
	for i := range now {
		all[i] = &now[i]
	}
	k.insert(b, all)
}
