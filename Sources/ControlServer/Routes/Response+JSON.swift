import ControlAPI
import Foundation
import Hummingbird

extension Response {
  /// An answer with a body of JSON.
  static func json(
    _ value: some Encodable, status: HTTPResponse.Status = .ok, contentType: String = "application/json"
  ) throws -> Response {
    json(bytes: try WireFormat.encode(value), status: status, contentType: contentType)
  }

  /// An answer with a job: every submission has one, so it is written the fast way.
  static func json(_ job: Job, status: HTTPResponse.Status = .ok) throws -> Response {
    json(bytes: try WireFormat.bytes(of: job), status: status, contentType: "application/json")
  }

  /// An answer with a page of jobs, written the fast way.
  static func json(_ jobs: JobList) throws -> Response {
    json(bytes: try WireFormat.bytes(of: jobs), status: .ok, contentType: "application/json")
  }

  private static func json(
    bytes: some Collection<UInt8>, status: HTTPResponse.Status, contentType: String
  ) -> Response {
    Response(
      status: status, headers: [.contentType: contentType, .contentLength: String(bytes.count)],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }
}
