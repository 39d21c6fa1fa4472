// Package sdwebui is a provider over the Stable Diffusion web UI of AUTOMATIC1111, and over Forge,
// which speaks the same protocol.
//
//	p, err := sdwebui.New(sdwebui.Config{BaseURL: "http://10.0.0.7:7860"})
//	...
//	imagegen.Model{ID: "sdxl", Provider: p, Credits: prices}
//
// Without a reference it uses txt2img, with one img2img. A picture larger than what the checkpoint
// was trained for is drawn at about that area first and then enlarged to its exact size by hires
// fix; img2img draws it at once, for the reference gives it its layout. Calls take turns, as the
// web UI draws one thing at a time anyway. A call that is cancelled while it draws is interrupted;
// who presses Interrupt in the web UI has it deliver what is there.
//
// # The upstream
//
// From the web UI's source; every instance shows its API at /docs. It must run with --api, and with
// --api-auth takes a user name and a password. Edges are multiples of 8. The answer holds images in
// base64. An exception is answered with its name in the field error: the call is over, and nothing
// was made. /interrupt ends whatever is being drawn; /internal/progress, which an instance with
// --nowebui has not, tells whether that is the task in question. Hires fix of Forge fails unless
// hr_additional_modules is a list (lllyasviel/stable-diffusion-webui-forge#2680); the others
// ignore it. Nothing can be resumed.
package sdwebui
