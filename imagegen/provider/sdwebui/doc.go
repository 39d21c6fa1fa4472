// Package sdwebui is a provider over the Stable Diffusion web UI of AUTOMATIC1111, and over Forge,
// which speaks the same protocol.
//
//	p, err := sdwebui.New(sdwebui.Config{BaseURL: "http://10.0.0.7:7860"})
//	...
//	imagegen.Model{ID: "sdxl", Provider: p, Credits: prices}
//
// Without a reference it uses txt2img, with one img2img. If txt2img is to make a picture larger than what the
// checkpoint was trained for, it first draws one with about that area, and hires fix enlarges it to the exact size.
// img2img draws a picture of any size at once, since the reference gives it its layout. Calls take turns, because the
// web UI draws one thing at a time anyway. A call that is cancelled while it draws is interrupted. If somebody
// presses Interrupt in the web UI, the call delivers what has been drawn so far.
//
// # The upstream
//
// From the web UI's source (AUTOMATIC1111/stable-diffusion-webui); every instance shows its API at
// /docs. It must run with --api, and with --api-auth takes a user name and a password. Edges are
// multiples of 8. The answer holds images in base64. After an exception the field error has its name:
// the call is over, and nothing was made. /interrupt ends whatever is being drawn. /internal/progress
// tells whether that is the task in question; an instance with --nowebui does not have it. Hires fix of
// Forge fails unless hr_additional_modules is a list (lllyasviel/stable-diffusion-webui-forge, issue
// 2680); the web UI of AUTOMATIC1111 ignores it. There are no jobs: a lost call cannot be resumed.
package sdwebui
