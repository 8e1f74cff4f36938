import ControlAPI
import Testing

@testable import ControlServer

@Suite("The connections' thread answers")
struct ShortRequestTests {
  @Test(
    "what is made from memory, one job, and short lists",
    arguments: [
      ("/v1/status", nil), ("/v1/stats", nil), ("/v1/lanes", nil), ("/v1/health", nil), ("/v1/ready", nil),
      ("/v1/schedules", nil), ("/v1/jobs/17", nil), ("/v1/jobs", nil), ("/v1/jobs", "limit=100&state=running"),
      ("/v1/log", "limit=20"), ("/v1/log", ""),
    ] as [(String, String?)])
  func short(path: String, query: String?) {
    #expect(ShortRequest.isShort("GET", path, query))
  }

  @Test(
    "nothing that may take longer",
    arguments: [
      ("/v1/jobs", "limit=101"), ("/v1/jobs", "limit=all"), ("/v1/jobs", "limit"), ("/v1/log", "follow=true"),
      ("/v1/log", "limit=10&follow=true"), ("/v1/jobs/17/rejects", nil), ("/v1/jobs/17/events", nil),
      ("/v1/jobs/events", nil), ("/v1/objects/Person", "limit=1"), ("/v1/stores", nil), ("/v1/config", nil),
      ("/v1/watch", nil), ("/metrics", nil), ("/v1/batches", nil),
    ] as [(String, String?)])
  func long(path: String, query: String?) {
    #expect(!ShortRequest.isShort("GET", path, query))
  }

  @Test("no change but a single submission")
  func changes() {
    #expect(ShortRequest.isShort("POST", Endpoint.jobs.path, nil))
    #expect(!ShortRequest.isShort("POST", Endpoint.manyJobs.path, nil))
    #expect(!ShortRequest.isShort("DELETE", Endpoint.job(1).path, nil))
    #expect(!ShortRequest.isShort("HEAD", Endpoint.status.path, nil))
  }
}
