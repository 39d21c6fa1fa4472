// Verifies an event with the reference library of Standard Webhooks.
import { Webhook } from "standardwebhooks";

export function signed(headers, body, secret) {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
