import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** The hotel's booking service, on a free port of this machine. It refuses requests without its key. */
export async function startHotel(key: string) {
  const bookings = new Map<string, object>();
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://hotel");
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    };
    if (request.headers["x-hotel-key"] !== key) return answer(401, { error: "The key is missing." });
    if (request.method === "GET")
      return answer(200, { night: url.searchParams.get("night"), free: [{ room: 12, price: 95 }] });
    if (request.method === "POST") {
      const booking = { id: `B${bookings.size + 1}`, ...(JSON.parse(await text(request)) as object) };
      bookings.set(booking.id, booking);
      return answer(201, booking);
    }
    const id = url.pathname.split("/").at(-1) ?? "";
    return bookings.delete(id) ? answer(200, { cancelled: id }) : answer(404, { error: `There is no booking ${id}.` });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, bookings, close: () => void server.close().closeAllConnections() };
}
