package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/private"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

const (
	// setupTime is how long the link for the first operator works.
	setupTime = 15 * time.Minute
	// entryTime is how long the link works that signs in the user of --dev.
	entryTime = 12 * time.Hour
)

// setUpOperator makes the first operator from the password file or, without one, returns a line with a link by which
// somebody becomes the first operator. If there is an operator, it does nothing.
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
	return []string{fmt.Sprintf("no operator yet; within %d minutes open %s", int(setupTime.Minutes()), d.consoleURL()+
		path)}, nil
}

// setUpOperatorByFile makes the operator whose password is in a file. Once there is an operator the file no longer
// counts, and need not exist: the password is then changed in the console.
func (d *daemon) setUpOperatorByFile(ctx context.Context) error {
	// The operators are counted first, so that a file that was removed after the set-up is not an error.
	n, err := d.db.Operators(ctx)
	if err != nil || n > 0 {
		return err
	}
	line, err := private.ReadLine(d.options.OperatorPasswordFile)
	if err != nil {
		return fmt.Errorf("the password file cannot be used: %w", err)
	}
	// The user's identifier is not known yet: operatorLogins fills it in.
	err = console.SetPassword(ctx, operatorLogins{d.db, d.operator}, "", account.RoleOperator,
		imagegen.Secret(line))
	// The rules for passwords are the console's; where the password came from is known here.
	if e, ok := errors.AsType[*imagegen.Error](err); ok && e.Code == imagegen.CodeInvalidRequest {
		err = fmt.Errorf("the first line of %s cannot be used: %s", d.options.OperatorPasswordFile, e.Message)
	}
	if err != nil {
		return fmt.Errorf("the operator %q cannot be set up: %w", d.options.OperatorName, err)
	}
	d.log.Info("the operator is set up", "name", d.options.OperatorName)
	return nil
}

// operatorLogins makes the user at the moment at which their login is stored. So a password that is refused leaves no
// user behind.
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

// operator returns the user who becomes the operator. An existing user of that name becomes it too.
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

// consoleURL returns where browsers reach the console, with a slash at the end.
func (d *daemon) consoleURL() string { return config.Root(d.url()) + console.DefaultPath }
