import Foundation

extension YAMLValue {
  /// The most bytes of a secret.
  private static let longestSecret = 4096

  /// A secret: text, or `{credential: NAME}` for a credential that the service manager keeps, read now. Nothing that is
  /// reported has it in it. Nil with a problem reported, or where the configuration is only checked by who sees no credentials.
  func secret() -> String? {
    let text: String
    if node.isMapping {
      guard let section = YAMLSection<SecretKey>(self), let credential = section.required(.credential, "its name"),
        let name = credential.text(), let found = credential.credential(named: name)
      else { return nil }
      text = found
    } else {
      guard let scalar = scalar("text, or {credential: NAME}") else { return nil }
      text = scalar
    }
    guard !text.isEmpty, !text.unicodeScalars.contains(where: { $0.value < 0x21 || (0x7F..<0xA1).contains($0.value) })
    else {
      report(.conflict(key: key, problem: "the secret is empty, or has spaces or control characters in it"))
      return nil
    }
    return text
  }

  private enum SecretKey: String, CaseIterable { case credential }

  /// What a credential holds, without a line end behind it. The service manager puts each into a file of a folder that only
  /// the service sees: systemd.exec(5).
  private func credential(named name: String) -> String? {
    guard !name.contains("/"), name != ".", name != ".." else {
      wrong("a credential's name is that of a file, without a folder")
      return nil
    }
    guard let folder = reader.reading.environment["CREDENTIALS_DIRECTORY"], !folder.isEmpty else {
      if reader.reading.isOnlyChecked { return nil }
      wrong("there are no credentials: add LoadCredential=\(name):/path/of/the/file to the service, by systemctl edit")
      return nil
    }
    let data: Data
    do {
      let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder + "/" + name))
      defer { file.closeFile() }
      data = try file.read(upToCount: Self.longestSecret + 1) ?? Data()
    } catch CocoaError.fileReadNoPermission where reader.reading.isOnlyChecked {
      return nil
    } catch {
      let why = SystemFailure(error).description
      wrong(
        "\(why) (\(folder)/\(name)): add LoadCredential=\(name):/path/of/the/file to the service, by systemctl edit")
      return nil
    }
    guard data.count <= Self.longestSecret, var text = String(validating: data, as: UTF8.self) else {
      wrong("the credential isn't a text of at most \(Self.longestSecret) bytes")
      return nil
    }
    if text.hasSuffix("\n") { text.removeLast() }
    return text
  }
}
