package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/catalog"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/config"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/lists"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// complete sets up how shells complete the flags and arguments of a command and of those below it. All flags must be
// declared.
func (a *app) complete(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if values := a.values(f); values != nil {
			if err := c.RegisterFlagCompletionFunc(f.Name, values); err != nil {
				panic(err) // only if it was registered before
			}
		}
	})
	// The commands whose first argument is a user; everywhere else a flag is completed. user create is not among them,
	// since its name must be new. Only two commands take a file.
	switch c.CommandPath() {
	case "imagegend user set", "imagegend user suspend", "imagegend user resume", "imagegend user disable",
		"imagegend user invite", "imagegend user remove-passkeys", "imagegend user sponsor", "imagegend user members":
		c.ValidArgsFunction = a.userArgument
	case "imagegend backup", "imagegend restore":
	default:
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	for _, sub := range c.Commands() {
		a.complete(sub)
	}
}

// values returns what completes the values of a flag; nil: the shell offers files. Settings that are one of a few
// words know them; the other flags are known here by their names, each of which means the same in all commands.
func (a *app) values(f *pflag.Flag) cobra.CompletionFunc {
	if choice, ok := f.Value.(*config.Choice); ok {
		return cobra.FixedCompletions(choice.Words, cobra.ShellCompDirectiveNoFileComp)
	}
	switch f.Name {
	case "user", "member", "actor", "target":
		return a.userNames
	case "quality":
		words := lists.Each(imagegen.Qualities(), func(q imagegen.Quality) string { return string(q) })
		return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	// A file, or the word in place of one.
	case "models":
		return cobra.FixedCompletions([]string{catalog.Fake}, cobra.ShellCompDirectiveDefault)
	}
	return nil
}

// userArgument completes the name of a user as the only argument of a command: once there is one, it offers nothing.
func (a *app) userArgument(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.userNames(c, args, toComplete)
}

// userNames completes the name of a user. It opens the data with the settings of the command line so far, through the
// running server if there is one. It offers no names if that fails, since a shell cannot show an error.
func (a *app) userNames(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	if _, err := config.Load(c.Flags()); err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	s, err := adminserver.Open(c.Context(), a.settings.Data)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer s.Close()
	// After an error there are no names, as above.
	users, _ := admin.ListUsers.Do(c.Context(), s, admin.None{})
	return lists.Each(users, func(u admin.User) string { return u.Name }), cobra.ShellCompDirectiveNoFileComp
}
