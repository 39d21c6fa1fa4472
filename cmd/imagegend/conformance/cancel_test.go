package conformance_test

const (
	cancelLine = "contract: | `POST /api/v1/generations/:id/cancel` |"
	shownLine  = "contract: | an image before the end |"
)

var beforeTheEndChecks = []check{
	{name: "images before the end", lines: []string{shownLine},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen.TestShow",
			"imagegen/engine.TestShownImagesAfterACrash", "imagegen/engine.TestShownImagesAreKeptByADrain"}},
	{name: "cancelling", lines: []string{cancelLine},
		elsewhere: []string{"imagegen/client.TestOverHTTP", "imagegen/httpapi.TestCancelStatuses",
			"imagegen/engine.TestCancel", "imagegen/engine.TestCancelRaces"}},
}
