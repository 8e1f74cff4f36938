import ControlAPI
import Foundation
import Hummingbird

extension Response {
  /// An answer with a body of JSON.
  static func json(
    _ value: some Encodable, status: HTTPResponse.Status = .ok, contentType: String = "application/json"
  ) throws -> Response {
    let body = try WireFormat.encode(value)
    return Response(
      status: status, headers: [.contentType: contentType, .contentLength: String(body.count)],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
  }
}
