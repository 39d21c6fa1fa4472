package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

const (
	// setupTime is how long the link works by which the first operator is made.
	setupTime = 15 * time.Minute
	// entryTime is how long the link works that signs the user of --dev in.
	entryTime = 12 * time.Hour
	// maxPasswordFile is far more bytes than any password has.
	maxPasswordFile = 4 << 10
)

// setUpOperator makes the first operator, or says how it is made: by the password file, else by a link. With
// an operator there is nothing to do.
func (d *daemon) setUpOperator(ctx context.Context) ([]string, error) {
	if d.options.OperatorPasswordFile != "" {
		return nil, d.setUpOperatorByFile(ctx)
	}
	if !d.options.Console {
		return nil, nil
	}
	path, err := console.SetupLink(ctx, d.db, time.Now().Add(setupTime))
	if err != nil || path == "" {
		return nil, err
	}
	return []string{fmt.Sprintf("no operator yet; within %d minutes open %s", int(setupTime.Minutes()), d.consoleURL()+path)}, nil
}

// setUpOperatorByFile makes the operator whose password stands in a file. Later the file counts no more: the
// password is the operator's to change.
func (d *daemon) setUpOperatorByFile(ctx context.Context) error {
	n, err := d.db.Operators(ctx)
	if err != nil || n > 0 {
		return err
	}
	secret, err := readPassword(d.options.OperatorPasswordFile)
	if err != nil {
		return err
	}
	err = console.SetPassword(ctx, operatorLogins{d.db, d.operator}, "", account.RoleOperator, secret)
	if e, ok := errors.AsType[*imagegen.Error](err); ok && e.Code == imagegen.CodeInvalidRequest {
		err = fmt.Errorf("the first line of %s does not do: %s", d.options.OperatorPasswordFile, e.Message)
	}
	if err != nil {
		return fmt.Errorf("the operator %q cannot be set up: %w", d.options.OperatorName, err)
	}
	d.log.Info("the operator is set up", "name", d.options.OperatorName)
	return nil
}

// operatorLogins makes the user of a login as it is stored: so a password that does not do leaves no user.
type operatorLogins struct {
	account.LoginStore
	user func(context.Context) (imagegen.User, error)
}

// SetLogin implements [account.LoginStore].
func (o operatorLogins) SetLogin(ctx context.Context, l account.Login) error {
	u, err := o.user(ctx)
	if e, ok := errors.AsType[*imagegen.Error](err); ok && e.Code == imagegen.CodeInvalidRequest {
		return errors.New(e.Message) // of the name; the code is for programs
	}
	if err != nil {
		return err
	}
	l.User = u.ID
	return o.LoginStore.SetLogin(ctx, l)
}

// operator is the user who becomes the operator; one who is there already becomes it too.
func (d *daemon) operator(ctx context.Context) (imagegen.User, error) {
	u, err := d.engine.Accounts().CreateUser(ctx, d.options.OperatorName, "")
	if errors.Is(err, imagegen.ErrExists) {
		u, err = d.engine.Accounts().UserByName(ctx, d.options.OperatorName)
	}
	if err == nil && !u.DisabledAt.IsZero() {
		err = errors.New("this user is disabled; choose another name with --operator-name")
	}
	return u, err
}

// readPassword reads the first line of a file that nobody else can read.
func readPassword(path string) (imagegen.Secret, error) {
	text, err := private.ReadFile(path, maxPasswordFile)
	if err != nil {
		return "", fmt.Errorf("the password file does not do: %w", err)
	}
	line, _, _ := strings.Cut(text, "\n")
	return imagegen.Secret(strings.TrimSuffix(line, "\r")), nil
}

// consoleURL is where browsers reach the console.
func (d *daemon) consoleURL() string { return config.Root(d.url()) + console.DefaultPath }
