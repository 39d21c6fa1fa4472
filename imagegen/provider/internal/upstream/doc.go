// Package upstream is the part that all adapters for upstreams over HTTP share.
//
//   - [Client] sends requests. It guards the key (which hosts get it, and that no error repeats it) and the network
//     (which addresses are dialled).
//   - [Body], made by [Document] or [Form], streams reference images from disk into a request.
//   - [Strings], [Base64], [Found] and [Hold] read images out of an answer while it arrives.
//   - [Failure], [StatusError] and [Broken] turn what went wrong into an imagegen.ProviderError with a class.
//   - [Micros], [Tokens] and [Report] report what an upstream says that its work has used.
//   - [FanIn] runs several calls for one request; [Canvas] chooses sizes; [WhiteMask] converts masks.
//
// Nothing here retries a request, reads the environment, or knows a particular upstream. Reference images and made
// images are never held in memory as a whole, with two exceptions: Hold keeps up to 4 MiB, and a mask is decoded to be
// converted, one at a time.
package upstream
