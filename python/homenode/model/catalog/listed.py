"""Linux hosts under another scheduler: one class for each that the engine lists, made of what it
tells of its settings. Everything else is the host's own: switches, wake-ups, KVM.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, cast

from pydantic import Field, create_model

from homenode.model.catalog.figure import Figure
from homenode.model.catalog.hosts import HostOnLinux, without_calls
from homenode.model.catalog.policies import HOSTS, LISTED, HostPolicy, Setting
from homenode.model.document import Quantity
from homenode.model.spec import HypervisorSpec, LinuxSpec
from homenode.model.units import TIME


class ListedHost(HostOnLinux):
    """A Linux host whose scheduler is one of the engine's list."""

    def spec(self) -> HypervisorSpec:
        """The `hypervisor` part of the engine's input."""
        settings = {one.name: getattr(self, one.key).value for one in HOSTS[self.policy].settings}
        calls = without_calls(self.policy, self.window.value)
        return {**calls, "linux": cast(LinuxSpec, self.direct_costs()), "settings": settings}


def _kind(setting: Setting) -> Any:
    if setting.is_time:
        return Annotated[int, Quantity(TIME, TIME.format(setting.least), TIME.format(setting.most))]
    return Annotated[int, Field(ge=setting.least, le=setting.most)]


def _host(policy: HostPolicy) -> type[ListedHost]:
    """The class of one of them, whose settings stand beside the host's own numbers."""
    fields: dict[str, Any] = {
        one.key: (Figure[_kind(one)], Field(description=one.meaning))  # type: ignore[misc]
        for one in policy.settings
    }
    fields["policy"] = (Literal[policy.name], Field(description="which of the kinds it is"))
    return create_model(f"{policy.name}_host", __base__=ListedHost, __doc__=policy.title, **fields)


if TYPE_CHECKING:
    Listed = ListedHost
else:
    Listed = Union[tuple(map(_host, LISTED))]  # noqa: UP007 - as many as there are
