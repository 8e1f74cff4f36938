import ControlAPI
import ControlServer
import Hummingbird
import LadeTypes

extension PageRoutes {
  /// Files that a browser sends, and what becomes of them.
  func addUploadPages(to router: Router<ControlContext>) {
    page(router, "/upload") { visit in
      try visit.query().refuseNames(otherThan: [])
      let uploads = try await backend.uploads(by: visit.peer)
      return .page(UploadsPage(uploads: uploads, isReadOnly: check.settings.isReadOnly).page)
    }
    change(router, "/upload") { visit in
      let form = try await visit.form()
      try form.refuseNames(otherThan: ["name", "size", "modified"])
      let name = form["name"] ?? ""
      guard let size = try form.integer("size", in: 0...Int64.max) else { throw QueryError.missing(name: "size") }
      let modified = try form.integer("modified", in: 0...Int64.max) ?? 0
      let upload = try await backend.beginUpload(name, size: size, modified: modified, by: visit.peer)
      log("upload \(upload.id), \(upload.name), \(size) bytes", visit)
      return Self.answer(upload)
    }
    change(router, "/upload/{id}/part") { visit in
      let query = try visit.query()
      try query.refuseNames(otherThan: ["offset"])
      guard let offset = try query.integer("offset", in: 0...Int64.max) else {
        throw QueryError.missing(name: "offset")
      }
      let bytes = try await visit.body()
      return Self.answer(
        try await backend.append(bytes, at: offset, toUpload: visit.number("id"), by: visit.peer))
    }
    page(router, "/upload/{id}/state", isLinked: false) { visit in
      Self.answer(try await upload(visit.number("id"), of: visit.peer))
    }
    // It tries the file, which takes a store's turn to write.
    page(router, "/upload/{id}", isLinked: false) { try await upload($0) }
    change(router, "/upload/{id}/import") { try await importUpload($0) }
    change(router, "/upload/{id}/remove") { visit in
      let id = try visit.number("id")
      log("remove upload \(id)", visit)
      try await backend.removeUpload(id, by: visit.peer)
      return .redirect(.uploads)
    }
  }

  /// For the script that sends files: how much has arrived. A file of more bytes than a script can count isn't sent by one.
  private static func answer(_ upload: Upload) -> PageAnswer {
    .json("{\"id\":\"\(upload.id)\",\"received\":\(upload.received)}")
  }
}

/// Where files are sent, and those that were sent and not imported yet.
struct UploadsPage {
  let uploads: [Upload]
  let isReadOnly: Bool

  var page: Page {
    Page("Upload", .upload, script: isReadOnly ? nil : .upload) {
      if isReadOnly {
        HTML.element("p") { "The pages are read-only, so no files are taken." }
      } else {
        form
      }
      HTML.element("section", .label("Files that aren't imported yet")) { list }
    }
  }

  @HTMLBuilder
  private var form: HTML {
    HTML.element("p") {
      "Files are kept for a day, for you alone, until a job imports them. What was broken off goes on when the same file is "
      "chosen again."
    }
    HTML.element("form", .upload, .other("method", "get"), .action(.uploads)) {
      HTML.element("label", .other("for", "files")) { "Files, or drop them on this page" }
      HTML.void("input", .id("files"), .other("type", "file"), .other("multiple", "multiple"))
      HTML.element("button", .other("type", "submit"), .style("main")) { "Send" }
    }
    HTML.element("ul", .id("sending"), .label("Files being sent")) { HTML.empty }
    HTML.element("p", .id("sent"), .other("role", "status")) { HTML.empty }
    HTML.element("noscript") {
      HTML.element("p") {
        "Sending files needs JavaScript. "
        HTML.command("ladectl submit FILE")
        " doesn't."
      }
    }
  }

  @HTMLBuilder
  private var list: HTML {
    HTML.element("h2") { "Not imported yet" }
    if uploads.isEmpty {
      HTML.element("p") { "None." }
    } else {
      HTML.table(
        "Files that aren't imported yet",
        columns: [HTML.column("File"), HTML.numberColumn("Size"), HTML.numberColumn("Arrived")]
          + (isReadOnly ? [] : [HTML.column("Remove")]),
        rows: uploads.map { upload in
          HTML.element("tr") {
            HTML.element("th", .other("scope", "row")) {
              HTML.element("a", .link(.upload(upload.id))) { HTML.name(upload.name) }
            }
            HTML.element("td", .style("number")) { Quantity.bytes(Double(upload.size)) }
            HTML.element("td", .style("number")) {
              upload.isWhole ? "all" : Quantity.bytes(Double(upload.received))
            }
            if !isReadOnly {
              HTML.element("td") {
                HTML.element("form", .other("method", "post"), .action(.removeUpload(upload.id))) {
                  HTML.element("button", .other("type", "submit"), .label("Remove \(upload.name)")) { "Remove" }
                }
              }
            }
          }
        })
    }
  }
}
