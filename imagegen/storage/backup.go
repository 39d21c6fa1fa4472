package storage
import ("context"; "io"; "github.com/imagegend/imagegend/imagegen")
func (db *DB) Audit(ctx context.Context) (imagegen.AuditReport, error) { return imagegen.AuditReport{}, nil }
func (db *DB) Backup(ctx context.Context, w io.Writer) error { return nil }
func Restore(ctx context.Context, r io.Reader, dir string) error { return nil }
