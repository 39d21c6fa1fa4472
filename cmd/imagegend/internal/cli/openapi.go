package cli

import (
	"github.com/spf13/cobra"

	"github.com/imagegend/imagegend/imagegen/httpapi/openapi"
)

// openapiCommand needs neither settings nor a server. The document is part of the program, so it describes the service
// of this version, which need not be the version that runs. It is written as it is: it ends with a line break of its
// own.
func (a *app) openapiCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "openapi",
		Short: "print the OpenAPI document of the HTTP interface",
		Long: "Prints the OpenAPI 3.1 document of the HTTP interface, from which clients can be generated. A running\n" +
			"service has it at /openapi.json, and a page for reading it at /docs.",
		Example: "  imagegend openapi > openapi.json",
	}
	c.RunE = a.action(func(*cobra.Command, []string) error {
		_, err := a.stdout.Write(openapi.Document())
		return err
	})
	return c
}
