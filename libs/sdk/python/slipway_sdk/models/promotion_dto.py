from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="PromotionDto")


@_attrs_define
class PromotionDto:
    """
    Attributes:
        approvals_required (int | Unset): How many distinct people must approve a plan. `1` unless given.
        cooldown_seconds (int | Unset): Between two proposals of the autopilot. `86400` unless given.
        max_step_percent (float | Unset): Percentage points by which a step of a plan's canary may raise the traffic.
            `25` unless given.
        plan_ttl_seconds (int | Unset): How long a plan may be approved and executed. `604800` unless given.
        prevent_self_approval (bool | Unset): The creator of a plan cannot approve it, neither with another token nor
            with one that came from theirs. `true` unless given.
        require_hosted_identity (bool | Unset): Only identities signed in at the hosted provider approve, and none whose
            token led to the one that made the plan. `false` unless given.
    """

    approvals_required: int | Unset = UNSET
    cooldown_seconds: int | Unset = UNSET
    max_step_percent: float | Unset = UNSET
    plan_ttl_seconds: int | Unset = UNSET
    prevent_self_approval: bool | Unset = UNSET
    require_hosted_identity: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        approvals_required = self.approvals_required

        cooldown_seconds = self.cooldown_seconds

        max_step_percent = self.max_step_percent

        plan_ttl_seconds = self.plan_ttl_seconds

        prevent_self_approval = self.prevent_self_approval

        require_hosted_identity = self.require_hosted_identity

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({})
        if approvals_required is not UNSET:
            field_dict["approvals_required"] = approvals_required
        if cooldown_seconds is not UNSET:
            field_dict["cooldown_seconds"] = cooldown_seconds
        if max_step_percent is not UNSET:
            field_dict["max_step_percent"] = max_step_percent
        if plan_ttl_seconds is not UNSET:
            field_dict["plan_ttl_seconds"] = plan_ttl_seconds
        if prevent_self_approval is not UNSET:
            field_dict["prevent_self_approval"] = prevent_self_approval
        if require_hosted_identity is not UNSET:
            field_dict["require_hosted_identity"] = require_hosted_identity

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        approvals_required = d.pop("approvals_required", UNSET)

        cooldown_seconds = d.pop("cooldown_seconds", UNSET)

        max_step_percent = d.pop("max_step_percent", UNSET)

        plan_ttl_seconds = d.pop("plan_ttl_seconds", UNSET)

        prevent_self_approval = d.pop("prevent_self_approval", UNSET)

        require_hosted_identity = d.pop("require_hosted_identity", UNSET)

        promotion_dto = cls(
            approvals_required=approvals_required,
            cooldown_seconds=cooldown_seconds,
            max_step_percent=max_step_percent,
            plan_ttl_seconds=plan_ttl_seconds,
            prevent_self_approval=prevent_self_approval,
            require_hosted_identity=require_hosted_identity,
        )

        promotion_dto.additional_properties = d
        return promotion_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
