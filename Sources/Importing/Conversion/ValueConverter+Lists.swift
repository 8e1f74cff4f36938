import Foundation
import ManagedObjects

// Arrays of strings in transformable attributes: a text with separators, or an array of JSON.
extension ValueConverter {
  /// The strings of a text. Those that are empty or null are left out.
  func list(_ text: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    guard let separator = rules?.separator else { throw .wrongKind }
    return try list(String(decoding: text, as: UTF8.self).split(separator: separator).map(String.init))
  }

  /// The value of an array or object of JSON, as it was written: of an attribute that holds an array of strings, that.
  func convert(nested json: UnsafeRawBufferPointer) throws(ConversionCode) -> Value {
    guard base == .list else { throw .wrongKind }
    let strings: [String]
    do {
      strings = try JSONDecoder().decode([String].self, from: Data(json))
    } catch {
      throw .wrongKind
    }
    return try list(strings)
  }

  private func list(_ strings: [String]) throws(ConversionCode) -> Value {
    var kept: [String] = []
    for var string in strings {
      let value = try meaning(&string)
      if case .string(let text) = value { kept.append(text) }
    }
    do {
      return .data(try attribute.data(of: kept))
    } catch {
      throw .wrongKind
    }
  }

  /// What one of the strings stands for.
  private func meaning(_ string: inout String) throws(ConversionCode) -> Value {
    let result = string.withUTF8 { bytes -> Result<Value, ConversionCode> in
      let bytes = UnsafeRawBufferPointer(bytes)
      let text = rules?.trims == true ? Self.trimmed(bytes) : bytes
      if text.isEmpty { return .success(.null) }
      do throws(ConversionCode) {
        return .success(try rules?.value(of: text) ?? .string(String(decoding: text, as: UTF8.self)))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
