#include "gpu/device.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "gpu/test_device.h"

namespace loom::gpu {
namespace {

constexpr const char* kAddOne = R"(
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(64) fn add_one(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < arrayLength(&x)) { y[id.x] = x[id.x] + 1u; }
})";
constexpr Access kReadWrite[] = {Access::read, Access::read_write};

TEST(Device, AMissingLibraryIsNamed) {
  const auto device = open_device({.library = "/nowhere/libwebgpu.so"});
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.status().code(), Code::unsupported);
  EXPECT_NE(device.status().message().find("/nowhere/libwebgpu.so"), std::string::npos)
      << device.status().message();
}

TEST(Device, ALibraryThatIsNoneIsNamed) {
  const auto device = open_device({.library = "libm.so.6"});
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.status().code(), Code::unsupported);
}

TEST(Device, RunsAKernelOverWhatWasUploadedInPieces) {
  LOOM_TEST_DEVICE(d);
  constexpr std::size_t kCount = (std::size_t{40} << 20) / 4 + 3;
  std::vector<std::uint32_t> values(kCount);
  for (std::size_t i = 0; i < kCount; ++i) values[i] = static_cast<std::uint32_t>(i * 2654435761u);
  auto from = Buffer::create(*d, kCount * 4, "from"), to = Buffer::create(*d, kCount * 4, "to");
  ASSERT_TRUE(from.ok() && to.ok());
  ASSERT_TRUE(d->write(from->handle(), 0, std::as_bytes(std::span(values))).ok());
  const auto p = d->pipeline({"test add_one", kAddOne, "add_one", kReadWrite});
  ASSERT_TRUE(p.ok()) << p.status().to_string();
  const Binding bindings[] = {{from->handle()}, {to->handle()}};
  const auto group = d->bind(*p, bindings);
  ASSERT_TRUE(group.ok()) << group.status().to_string();
  const Dispatch one{*p, *group, 65535};
  ASSERT_TRUE(d->submit({&one, 1}).ok());
  std::vector<std::uint32_t> head(1000), tail(3);
  const ReadRange ranges[] = {
      {to->handle(), 0, std::as_writable_bytes(std::span(head))},
      {to->handle(), 65535 * 64 * 4 - 12, std::as_writable_bytes(std::span(tail))}};
  const Status s = d->read(ranges);
  ASSERT_TRUE(s.ok()) << s.to_string();
  for (std::size_t i = 0; i < head.size(); ++i) ASSERT_EQ(head[i], values[i] + 1);
  for (std::size_t i = 0; i < tail.size(); ++i) ASSERT_EQ(tail[i], values[65535 * 64 - 3 + i] + 1);
  std::vector<std::uint32_t> all(kCount);
  const ReadRange whole{from->handle(), 0, std::as_writable_bytes(std::span(all))};
  ASSERT_TRUE(d->read({&whole, 1}).ok());
  EXPECT_EQ(all, values);
  d->destroy_bindings(*group);
}

TEST(Device, AKernelThatDoesNotCompileIsAnErrorWithItsMessage) {
  LOOM_TEST_DEVICE(unchecked);
  auto checked = open_device({.checks = true});
  ASSERT_TRUE(checked.ok());
  Device* d = checked->get();
  const auto p = d->pipeline(
      {"test broken", "@compute @workgroup_size(1) fn f() { let x: u32 = 1.5; }", "f", {}});
  ASSERT_FALSE(p.ok());
  EXPECT_NE(p.status().message().find("test broken"), std::string::npos) << p.status().message();
  const auto again = d->pipeline({"test add_one", kAddOne, "add_one", kReadWrite});
  EXPECT_TRUE(again.ok()) << again.status().to_string();
}

TEST(Device, ABufferBeyondTheLimitsIsOutOfMemory) {
  LOOM_TEST_DEVICE(d);
  const auto b = Buffer::create(*d, d->limits().buffer_bytes + 16, "too large");
  ASSERT_FALSE(b.ok());
  EXPECT_EQ(b.status().code(), Code::out_of_memory);
  const std::uint64_t before = d->allocated_bytes();
  {
    const auto small = Buffer::create(*d, 1024, "small");
    EXPECT_EQ(d->allocated_bytes(), before + 1024);
  }
  EXPECT_EQ(d->allocated_bytes(), before);
}

TEST(Device, TwoDevicesWorkOneAfterTheOther) {
  LOOM_TEST_DEVICE(unused);
  for (int i = 0; i < 2; ++i) {
    auto device = open_device();
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    const auto b = Buffer::create(**device, 256, "b");
    ASSERT_TRUE(b.ok());
    std::vector<std::byte> zeros(256, std::byte{1});
    const ReadRange range{b->handle(), 0, zeros};
    ASSERT_TRUE((*device)->read({&range, 1}).ok());
    EXPECT_EQ(zeros, std::vector<std::byte>(256));
  }
}

// A host's WebGPU: the library of the tests, through functions of the test's own.
struct Host {
  static inline void* library = nullptr;
  static inline std::string_view missing;
  static inline bool other_limits = false;
  struct Name {
    const char* data;
    std::size_t size;
  };
  static HostFunction find(Name name) {
    const std::string wanted(name.data, name.size);
    if (wanted == missing) return nullptr;
    if (other_limits && wanted == "wgpuAdapterGetLimits")
      return reinterpret_cast<HostFunction>(+[](void*, void*) { return std::uint32_t{1}; });
    return reinterpret_cast<HostFunction>(dlsym(library, wanted.c_str()));
  }
  Host() {
    missing = {};
    other_limits = false;
  }
  ~Host() { (void)use_host(nullptr); }
  static Status use() { return use_host(reinterpret_cast<HostFunction>(&Host::find)); }
};

TEST(Device, OfAHostsLibrary) {
  LOOM_TEST_DEVICE(own);
  Host host;
  Host::library = dlopen(own->info().library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(Host::library, nullptr);
  ASSERT_TRUE(Host::use().ok());
  auto device = open_device();
  ASSERT_TRUE(device.ok()) << device.status().to_string();
  EXPECT_EQ((*device)->info().name, own->info().name);
  EXPECT_NE((*device)->info().library, own->info().library);
  EXPECT_TRUE((*device)->pipeline({"test add_one", kAddOne, "add_one", kReadWrite}).ok());

  // A refused one leaves the one before.
  Host::missing = "wgpuQueueSubmit";
  const Status refused = Host::use();
  EXPECT_EQ(refused.code(), Code::unsupported);
  EXPECT_NE(refused.message().find("wgpuQueueSubmit"), std::string::npos) << refused.message();
  Host::missing = {};
  EXPECT_EQ(open_device()->get()->info().library, (*device)->info().library);

  Host::other_limits = true;
  const auto other = open_device();
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.status().code(), Code::unsupported);
  EXPECT_NE(other.status().message().find("webgpu.h"), std::string::npos);

  ASSERT_TRUE(use_host(nullptr).ok());
  EXPECT_EQ(open_device()->get()->info().library, own->info().library);
}

}  // namespace
}  // namespace loom::gpu
