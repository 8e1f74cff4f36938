package import Hummingbird
import HTTPTypes
import NIOCore

extension ControlBackend {
  /// All rejects of a job as one file, which is read while it is sent.
  ///
  /// What keeps it from being read is thrown before anything is sent. What does so later ends the answer without its last
  /// chunk, which clients report.
  /// - Parameter mayGoOn: whether the client may still have it; asked before each part but the first.
  package func rejectFileAnswer(
    _ id: Int64, while mayGoOn: @escaping @Sendable () -> Bool = { true }
  ) async throws -> Response {
    let file = try await rejectFile(id)
    let first = try await file.next() ?? []
    let headers: HTTPFields = [
      .contentType: "application/octet-stream", .contentDisposition: "attachment; filename=\"\(file.headerName)\"",
    ]
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody { writer in
        try await writer.write(ByteBuffer(bytes: first))
        while true {
          guard mayGoOn() else {
            throw ControlError.forbidden(reason: "The session has ended.", hint: "Sign in again.")
          }
          guard let part = try await file.next() else { break }
          try await writer.write(ByteBuffer(bytes: part))
        }
        try await writer.finish(nil)
      })
  }
}
