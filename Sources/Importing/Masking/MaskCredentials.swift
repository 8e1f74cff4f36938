import Foundation
import ManagedObjects

/// The keys of masks: each is a credential that the service manager keeps for the service, a file in a folder that only the
/// service sees (systemd.exec(5), `LoadCredential=`).
///
/// A key is read when an import begins, and is in memory only. Nothing that is stored or reported has it in it.
package struct MaskCredentials: Sendable, Hashable {
  /// Less than this can be guessed: 128 bits.
  package static let shortestKey = 16
  private static let longestKey = 4096

  /// The folder with the files; nil: there is none.
  package let folder: String?

  /// - Parameter folder: nil where there are no credentials.
  package init(folder: String?) { self.folder = folder.flatMap { $0.isEmpty ? nil : $0 } }

  /// Those of the process: `$CREDENTIALS_DIRECTORY`.
  package static var ofProcess: MaskCredentials {
    MaskCredentials(folder: ProcessInfo.processInfo.environment["CREDENTIALS_DIRECTORY"])
  }

  /// Whether a credential can have this name: that of a file, without a folder.
  package static func isName(_ name: some StringProtocol) -> Bool {
    !name.isEmpty && name != "." && name != ".." && name.utf8.count <= 255
      && name.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || "0123456789-_.".unicodeScalars.contains($0))
      }
  }

  /// Refuses a credential that isn't there, or can't be a key. Blocks.
  package func check(_ name: String) throws(MaskingError) { _ = try key(name) }

  /// The key in a credential, without a line end behind it. Blocks.
  func key(_ name: String) throws(MaskingError) -> [UInt8] {
    let key = try secret(name)
    guard key.count >= Self.shortestKey else {
      throw .shortCredential(name: name, bytes: key.count, least: Self.shortestKey)
    }
    return key
  }

  /// What is in a credential, without a line end behind it. Blocks.
  package func secret(_ name: String) throws(MaskingError) -> [UInt8] {
    guard let folder else { throw .noCredentials(name: name) }
    var key: [UInt8]
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder + "/" + name))
      defer { file.closeFile() }
      key = Array(try file.read(upToCount: Self.longestKey + 1) ?? Data())
    } catch {
      throw .unreadableCredential(name: name, path: folder + "/" + name, reason: SystemReason.of(error))
    }
    if key.count > Self.longestKey { throw .longCredential(name: name, most: Self.longestKey) }
    if key.last == UInt8(ascii: "\n") { key.removeLast() }
    return key
  }
}

private enum SystemReason {
  /// A failure to read a file, in the system's words.
  static func of(_ error: any Error) -> String {
    let error = error as NSError
    let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError ?? error
    if cause.domain == NSPOSIXErrorDomain { return String(cString: strerror(Int32(cause.code))) }
    return error.code == CocoaError.fileReadNoSuchFile.rawValue ? "there is no such file" : error.localizedDescription
  }
}

/// Why values can't be masked.
package enum MaskingError: Error, Sendable, Equatable {
  /// There are no credentials at all.
  case noCredentials(name: String)
  case unreadableCredential(name: String, path: String, reason: String)
  case shortCredential(name: String, bytes: Int, least: Int)
  case longCredential(name: String, most: Int)
}

extension MaskingError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .noCredentials(let name):
      "the credential \(name) isn't there, since there are no credentials: add LoadCredential=\(name):/path/of/the/file "
        + "to the service, by systemctl edit"
    case .unreadableCredential(let name, let path, let reason):
      "the credential \(name) can't be read (\(path): \(reason)): add LoadCredential=\(name):/path/of/the/file to the "
        + "service, by systemctl edit"
    case .shortCredential(let name, let bytes, let least):
      "the credential \(name) has \(bytes) bytes, and a key needs at least \(least): make one by openssl rand -hex 32"
    case .longCredential(let name, let most): "the credential \(name) has more than \(most) bytes"
    }
  }
}
