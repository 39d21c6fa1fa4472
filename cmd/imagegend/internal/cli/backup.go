package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/backups"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// backupCommand writes a file, which appears only when it is whole, or a stream, of which only the exit status says
// whether it is whole. Like every command that administers, it asks the running server if there is one: a server has
// the database locked, and sends the archive through its socket.
func (a *app) backupCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "write one archive of database and images",
		Long: "Writes one consistent archive of the database and the images, also while the server runs; - writes it to\n" +
			"standard output. A file that exists is not overwritten. The archive holds prompts and hashes of keys.\n\n" +
			"With --database the archive holds what all nodes share, as it was at one moment; the nodes go on working. restore\n" +
			"makes a data directory from it, and move takes that to another database. TMPDIR needs as much room again. The\n" +
			"archive does not replace the backups of the database itself, which lose nothing: point-in-time recovery, and\n" +
			"versions of the bucket's objects.",
		Example: "  imagegend backup imagegend-$(date +%F).tar\n" +
			"  imagegend backup - | ssh vault 'cat > imagegend.tar'",
		Args: exactly("FILE"),
	}
	asJSON := jsonFlag(c, "one JSON object")
	a.administer(c, func(cmd *cobra.Command, s admin.Caller, args []string) error {
		if args[0] == "-" {
			if *asJSON {
				return usage(cmd, "standard output takes the archive, so --json cannot be combined with -")
			}
			// An archive is binary, and a terminal would obey what looks like escape sequences in it.
			if isTerminal(a.stdout) {
				return usage(cmd, "an archive does not belong on a terminal; name a file or pipe the output on")
			}
			// What was written cannot be taken back. After an error only the exit status says that it is not an
			// archive.
			return a.advised(admin.Backup.Do(cmd.Context(), s, a.stdout))
		}
		if err := writeNew(args[0], func(w io.Writer) error {
			return admin.Backup.Do(cmd.Context(), s, w)
		}); err != nil {
			return err
		}
		return a.advised(a.noteResult(*asJSON, written{args[0]}, "wrote %s", args[0]))
	})
	return c
}

// advised returns the outcome of a backup. Of data that nodes share it says that an archive does not replace the
// backups of database and bucket.
func (a *app) advised(err error) error {
	if err == nil && a.settings.Shared() {
		fmt.Fprintln(a.stderr,
			"the archive has the data of the moment at which it was begun, for inspection, tests and moves. To lose nothing, back the database up\n"+
				"by point-in-time recovery, and have the bucket keep versions of its objects: docs/scaling.md")
	}
	return err
}

// What backup and restore print with --json: the archive that was written, and the data directory that was made from
// one.
type (
	written struct {
		File string `json:"file"`
	}
	restored struct {
		DataDir string `json:"data_dir"`
	}
)

// noteResult is printResult with the line on standard error. The standard output of backup can be the archive, and
// restore, its counterpart, does the same.
func (a *app) noteResult(asJSON bool, v any, line string, args ...any) error {
	if asJSON {
		return printJSON(a.stdout, v)
	}
	_, err := fmt.Fprintf(a.stderr, line+"\n", args...)
	return err
}

// writeNew makes a file that is whole and durable, or none, and overwrites nothing. It writes under a temporary name
// in the same directory, flushes, names the file, and flushes the directory. Before the work it checks what would
// make it useless: that the name is free, and that there is a directory to write in.
func writeNew(path string, write func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil {
		return existsAlready(path)
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return fmt.Errorf("there is no directory %s to write %s in", dir, filepath.Base(path))
	}
	// A hidden name in the same directory, so that a link or a rename can complete it.
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	// The temporary name would mean nothing to the user.
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s cannot be written: %w", path, p.Err)
	}
	if err != nil {
		return err
	}
	// After a link this leaves the file under its name; after a rename it fails.
	defer os.Remove(f.Name())
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := nameNew(f.Name(), path, os.Link); err != nil {
		return err
	}
	return backups.SyncDir(dir)
}

// nameNew gives a file its name unless the name is taken. A link, unlike a rename, never replaces a file. On file
// systems without links it looks first and then renames: a file that appears in between is lost, but what was written
// is too much to throw away. link is os.Link, except in tests.
func nameNew(temp, path string, link func(from, to string) error) error {
	err := link(temp, path)
	if err == nil {
		return nil
	}
	if _, there := os.Lstat(path); there == nil || errors.Is(err, fs.ErrExist) {
		return existsAlready(path)
	}
	return os.Rename(temp, path)
}

// existsAlready is the error for a file that would have to be overwritten.
func existsAlready(path string) error {
	return fmt.Errorf("%s exists already; choose another name", path)
}

// restoreCommand asks no server: its target must be absent or empty, so no server can have it open. The audit trail of
// the restored data records the act, under the name of the user who restored it. There is no --database: an archive
// becomes a directory first, and move takes it from there.
func (a *app) restoreCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "make a data directory from an archive",
		Long: "Makes the data directory from an archive, which may lie in a bucket; - reads it from standard input. The\n" +
			"directory must be absent or empty. The archive is verified and audited before the directory can be used. To get the\n" +
			"data into a database, restore it into a directory and then run\n" +
			"imagegend move --data-dir ./restored --to-database … --to-images ….",
		Example: "  imagegend restore imagegend-2030-01-31.tar --data-dir ./restored\n" +
			"  imagegend restore 's3://bucket/prefix/imagegend-20300131T060000.000Z.tar?endpoint=https://s3.example.com' --data-dir ./restored",
		Args: exactly("FILE"),
	}
	asJSON := jsonFlag(c, "one JSON object")
	c.RunE = a.action(func(cmd *cobra.Command, args []string) error {
		r := a.stdin
		if args[0] != "-" {
			f, err := backups.OpenArchive(cmd.Context(), args[0])
			// The first is the error of a missing file, the second that of a missing object.
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, imagegen.ErrNotFound) {
				return fmt.Errorf("there is no archive %s", args[0])
			}
			if err != nil {
				return err
			}
			defer f.Close()
			r = f
		}
		// No command would use what is restored there.
		if err := private.CheckDir(a.settings.DataDir); err != nil {
			return fmt.Errorf("nothing was restored: %w", err)
		}
		if err := storage.Restore(adminserver.AsCommand(cmd.Context()), r, a.settings.DataDir); err != nil {
			return fmt.Errorf("nothing was restored: %w", err)
		}
		return a.noteResult(*asJSON, restored{a.settings.DataDir},
			"restored %s; imagegend serve --data-dir %[1]s runs on it, imagegend move --data-dir %[1]s --to-database … --to-images … takes it to a database", a.settings.DataDir)
	})
	a.settings.DataDirFlag(c.Flags())
	return c
}
