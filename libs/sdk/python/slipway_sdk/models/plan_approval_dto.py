from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.plan_decision_dto import PlanDecisionDto


T = TypeVar("T", bound="PlanApprovalDto")


@_attrs_define
class PlanApprovalDto:
    """
    Attributes:
        approvals (list[PlanDecisionDto]):
        approvals_required (int): Distinct people (owners of tokens, or signed-in identities) who must approve, by the
            policy version the plan cites
        ended (None | PlanDecisionDto): Who ended it, where it was rejected, expired or superseded
        state (str): One of `pending`, `approved`, `rejected`, `expired`, `superseded`.
        version (int): Rises with every decision
    """

    approvals: list[PlanDecisionDto]
    approvals_required: int
    ended: None | PlanDecisionDto
    state: str
    version: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.plan_decision_dto import PlanDecisionDto

        approvals = []
        for approvals_item_data in self.approvals:
            approvals_item = approvals_item_data.to_dict()
            approvals.append(approvals_item)

        approvals_required = self.approvals_required

        ended: dict[str, Any] | None
        if isinstance(self.ended, PlanDecisionDto):
            ended = self.ended.to_dict()
        else:
            ended = self.ended

        state = self.state

        version = self.version

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "approvals": approvals,
                "approvals_required": approvals_required,
                "ended": ended,
                "state": state,
                "version": version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.plan_decision_dto import PlanDecisionDto

        d = dict(src_dict)
        approvals = []
        _approvals = d.pop("approvals")
        for approvals_item_data in _approvals:
            approvals_item = PlanDecisionDto.from_dict(approvals_item_data)

            approvals.append(approvals_item)

        approvals_required = d.pop("approvals_required")

        def _parse_ended(data: object) -> None | PlanDecisionDto:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                ended_type_0 = PlanDecisionDto.from_dict(data)

                return ended_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PlanDecisionDto, data)

        ended = _parse_ended(d.pop("ended"))

        state = d.pop("state")

        version = d.pop("version")

        plan_approval_dto = cls(
            approvals=approvals,
            approvals_required=approvals_required,
            ended=ended,
            state=state,
            version=version,
        )

        plan_approval_dto.additional_properties = d
        return plan_approval_dto

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
