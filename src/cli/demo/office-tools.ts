import { type DemoTool, read, write } from "./demo-tool.ts";

/** Communication, people, reports, files and engineering. */
export const OFFICE_TOOLS: readonly DemoTool[] = [
  write("comms.post_slack_message", "Post a message in a Slack channel.", {
    parameters: { channel: "Name of the channel", text: "The message" },
    tags: ["slack", "message", "send"],
    capabilities: ["external_api"],
    handler: ({ channel }) => ({ posted: channel }),
  }),
  write("comms.send_sms", "Send a text message to a phone number.", {
    parameters: { phone: "Phone number", text: "The message" },
    tags: ["message", "send", "notify"],
    capabilities: ["external_api"],
    handler: () => {
      throw new Error("SMS provider unreachable");
    },
  }),
  write("calendar.schedule_meeting", "Put a meeting into the calendar and invite people.", {
    parameters: { title: "What it is about", when: "Date and time", people: "Who is invited" },
    tags: ["create", "message"],
    handler: ({ when }) => ({ scheduled: when }),
  }),
  read("calendar.find_free_slot", "Find a time when several people are free.", {
    parameters: { people: "Who must be free" },
    tags: ["search", "get"],
    handler: () => ({ slot: "Tuesday 10:00" }),
  }),
  write("calendar.cancel_meeting", "Cancel a meeting and tell everybody invited.", {
    parameters: { meeting_id: "The meeting" },
    tags: ["delete", "notify"],
    handler: ({ meeting_id }) => ({ cancelled: meeting_id }),
  }),

  read("people.find_employee", "Look up a colleague: team, manager, phone, office.", {
    parameters: { name: "Any part of the name" },
    tags: ["search", "user", "get"],
    handler: ({ name }) => ({ name, team: "Platform" }),
  }),
  write("people.request_vacation", "Hand in a vacation request for approval.", {
    parameters: { from: "First day", to: "Last day" },
    tags: ["create"],
    handler: ({ from, to }) => ({ requested: [from, to] }),
  }),
  write("accounts.reset_password", "Send somebody a link to set a new password.", {
    parameters: { email: "Whose password" },
    tags: ["user", "admin", "send"],
    handler: ({ email }) => ({ sent: email }),
  }),
  write("accounts.grant_permission", "Give a user a permission or a role.", {
    parameters: { user: "The user", permission: "The permission" },
    tags: ["user", "permission", "admin"],
    handler: ({ permission }) => ({ granted: permission }),
  }),
  write("accounts.delete_user", "Delete a user account.", {
    parameters: { user: "The user" },
    tags: ["user", "delete", "admin"],
    capabilities: ["delete_data"],
    handler: ({ user }) => ({ deleted: user }),
  }),

  // Data, files, engineering
  read("reports.forecast_revenue", "Forecast next quarter's revenue from past sales.", {
    parameters: { quarter: "The quarter" },
    tags: ["analyze", "compute", "report"],
    handler: ({ quarter }) => ({ quarter, forecast: 1_240_000 }),
  }),
  read("reports.export_spreadsheet", "Export rows of data as a spreadsheet file.", {
    parameters: { rows: "What to export" },
    tags: ["export", "file"],
    handler: () => ({ file: "export.xlsx" }),
  }),
  read("files.search_documents", "Search shared documents by their content.", {
    parameters: { query: "Words to look for" },
    tags: ["search", "file"],
    handler: () => [{ title: "Onboarding.pdf" }],
  }),
  read("files.convert_to_pdf", "Convert a document or image to PDF.", {
    parameters: { path: "The file" },
    tags: ["convert", "file"],
    capabilities: ["file_system"],
    handler: ({ path }) => ({ file: `${String(path)}.pdf` }),
  }),
  write("files.upload_file", "Upload a file to the shared drive.", {
    parameters: { path: "The file", folder: "Where to" },
    tags: ["upload", "file"],
    capabilities: ["file_system"],
    handler: ({ path }) => ({ uploaded: path }),
  }),
  write("data.drop_table", "Drop a database table with everything in it.", {
    parameters: { table: "The table" },
    tags: ["delete"],
    capabilities: ["delete_data"],
    handler: ({ table }) => ({ dropped: table }),
  }),
  read("engineering.search_logs", "Search application logs for errors in a time span.", {
    parameters: { query: "Words to look for", since: "From when" },
    tags: ["search", "query"],
    handler: () => [{ at: "09:14", message: "timeout talking to payments" }],
  }),
  read("engineering.list_incidents", "List open incidents and who works on them.", {
    parameters: {},
    tags: ["list", "get"],
    handler: () => [],
  }),
  write("engineering.deploy_service", "Deploy a version of a service to an environment.", {
    parameters: { service: "The service", version: "The version" },
    tags: ["update"],
    capabilities: ["execute_code"],
    handler: ({ service }) => ({ deployed: service }),
  }),
  write("engineering.rollback_service", "Roll a service back to its previous version.", {
    parameters: { service: "The service" },
    tags: ["update"],
    capabilities: ["execute_code"],
    handler: ({ service }) => ({ rolledBack: service }),
  }),
  write("marketing.create_campaign", "Set up an email campaign for a group of customers.", {
    parameters: { name: "The campaign", audience: "Who gets it" },
    tags: ["create", "email"],
    handler: ({ name }) => ({ campaign: name }),
  }),
  read("marketing.campaign_statistics", "Show opens, clicks and sales of a campaign.", {
    parameters: { name: "The campaign" },
    tags: ["analyze", "report", "get"],
    handler: ({ name }) => ({ name, opens: 1811, clicks: 204 }),
  }),
  read("web.summarize_page", "Read a web page and summarize it in a few sentences.", {
    parameters: { url: "The page's address" },
    tags: ["read", "analyze"],
    capabilities: ["network_access"],
    handler: ({ url }) => ({ url, summary: "…" }),
  }),
  read("web.translate_text", "Translate text into another language.", {
    parameters: { text: "The text", language: "Into which language" },
    tags: ["convert", "compute"],
    handler: ({ text }) => ({ text }),
  }),
];
